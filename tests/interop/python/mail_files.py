"""Writes messages with the email package of Python into a folder: mail_files.py FOLDER"""

import datetime
import io
import pathlib
import sys
from email.message import EmailMessage
from email.mime.text import MIMEText

from PIL import Image

folder = pathlib.Path(sys.argv[1])


def message(subject):
    mail = EmailMessage()
    mail["Subject"] = subject
    mail["From"] = "Jörg Müller <joerg@example.com>"
    mail["To"] = "Ada <ada@example.com>, bob@example.com"
    mail["Cc"] = "团队 <team@example.com>"
    mail["Date"] = datetime.datetime(2024, 3, 15, 10, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    return mail


def picture():
    stream = io.BytesIO()
    Image.new("RGB", (30, 20), "red").save(stream, "PNG")
    return stream.getvalue()


mail = message("Quarterly report 季度报告")
mail.set_content("The plain form.\n")
mail.add_alternative(
    "<html><body><h1>Report</h1><p>See <a href='https://example.com/r'>the figures</a>:</p>"
    "<ul><li>North grew</li><li>South shrank</li></ul><p><img src='cid:chart@x' alt='A chart'></p>"
    "<table><tr><th>Region</th><th>Sum</th></tr><tr><td>North</td><td>1,250</td></tr></table></body></html>",
    subtype="html",
)
mail.get_payload()[1].add_related(picture(), "image", "png", cid="<chart@x>")
inner = message("An inner message")
inner.set_content("Inside.\n")
mail.add_attachment(b"a;b\n\xe9;2\n", maintype="text", subtype="csv", filename="Zahlen für Ä.csv")
mail.add_attachment(inner)
(folder / "rich.eml").write_bytes(mail.as_bytes())

plain = MIMEText("你好，\n\n这是一封纯文本邮件。\n\n- 第一\n- 第二\n", "plain", "gb2312")
plain["Subject"] = "纯文本"
plain["From"] = "a@example.com"
(folder / "plain.eml").write_bytes(plain.as_bytes())

letter = message("Layout")
letter.set_content("Short and plain.\n")
letter.add_alternative(
    "<table><tr><td>" + "A column that only arranges words. " * 20 + "</td><td>x</td></tr></table>", subtype="html"
)
(folder / "layout.eml").write_bytes(letter.as_bytes())
