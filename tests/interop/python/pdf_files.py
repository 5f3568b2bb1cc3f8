"""Writes PDF files with everything that reportlab can write, to the folder that is given."""

import io
import os
import sys

from PIL import Image as Picture
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    Image,
    ListFlowable,
    ListItem,
    PageBreak,
    PageTemplate,
    Paragraph,
    Preformatted,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

STYLES = getSampleStyleSheet()
BODY = ParagraphStyle("body", parent=STYLES["BodyText"], alignment=TA_JUSTIFY)
SENTENCE = "The quick brown fox jumps over the lazy dog while the river runs slowly to the sea. "


def words(first, count):
    """A text whose words tell their order."""
    return " ".join(f"{first}{number:03d}" for number in range(count))


def picture(width=40, height=20, color="red"):
    stream = io.BytesIO()
    Picture.new("RGB", (width, height), color).save(stream, "PNG")
    stream.seek(0)
    return stream


def report(path):
    """Headings, paragraphs, a list, two kinds of tables, links, code, a picture, headers and footers."""

    def edges(page, document):
        page.saveState()
        page.setFont("Helvetica", 8)
        page.drawString(72, A4[1] - 30, "The report of the year")
        page.drawCentredString(A4[0] / 2, 24, f"Page {document.page}")
        page.restoreState()

    document = SimpleDocTemplate(path, pagesize=A4, title="The report", author="Ada", subject="Sums", keywords="sums, 数据")
    ruled = Table(
        [["Region", "Sum", "Growth"], ["North", "1,250", "+12%"], ["South and the far islands", "981", "-5%"]],
        style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("FONT", (0, 0), (-1, 0), "Helvetica-Bold")]),
    )
    aligned = Table(
        [["Item", "Count", "Price"], ["Apples", "3", "1.20"], ["Pears", "14", "0.90"], ["Plums", "150", "12.75"]],
        colWidths=[140, 80, 80],
    )
    spanned = Table(
        [["Both", "", "C"], ["a", "b", "c"], ["d", "e", "f"]],
        style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("SPAN", (0, 0), (1, 0))]),
    )
    document.build(
        [
            Paragraph('<a name="top"/>The report', STYLES["Title"]),
            Paragraph("Introduction", STYLES["Heading1"]),
            Paragraph(SENTENCE * 4, BODY),
            Paragraph("The second paragraph has <b>bold words</b> and <i>others</i> in it, and ends soon.", BODY),
            Paragraph('See <link href="https://example.com/sums">the sums</link> for more.', BODY),
            Paragraph("Details", STYLES["Heading2"]),
            ListFlowable(
                [
                    ListItem(Paragraph("First thing", BODY)),
                    ListItem(
                        [
                            Paragraph("Second thing", BODY),
                            ListFlowable([ListItem(Paragraph("Inner thing", BODY))], bulletType="bullet"),
                        ]
                    ),
                    ListItem(Paragraph("Third thing", BODY)),
                ],
                bulletType="bullet",
            ),
            ListFlowable(
                [Paragraph("Step one", BODY), Paragraph("Step two " + SENTENCE * 2, BODY), Paragraph("Step three", BODY)],
                bulletType="1",
                bulletFormat="%s.",
            ),
            PageBreak(),
            Paragraph("Tables", STYLES["Heading1"]),
            ruled,
            Spacer(1, 20),
            Paragraph("Between the tables stands a text. " + SENTENCE, BODY),
            Spacer(1, 20),
            aligned,
            Spacer(1, 20),
            spanned,
            Paragraph('<link href="#top">Back to the top</link>', BODY),
            PageBreak(),
            Paragraph("Other things", STYLES["Heading1"]),
            Preformatted("def sums(values):\n    return sum(values)", STYLES["Code"]),
            Image(picture(), width=120, height=60),
            Paragraph("The last text of the report.", BODY),
        ],
        onFirstPage=edges,
        onLaterPages=edges,
    )


def columns(path):
    """A heading over two columns."""
    document = BaseDocTemplate(path, pagesize=A4)
    width, height = A4
    top = Frame(50, height - 130, width - 100, 80, id="top")
    left = Frame(50, 50, 235, height - 190, id="left")
    right = Frame(310, 50, 235, height - 190, id="right")
    document.addPageTemplates([PageTemplate(id="two", frames=[top, left, right])])
    story = [Paragraph("A title over both columns", STYLES["Title"]), Spacer(1, 200)]
    story += [Paragraph(words(f"w{part}x", 150), BODY) for part in range(6)]
    document.build(story)


def chinese(path):
    """Chinese text in a font that is not embedded."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    style = ParagraphStyle("zh", fontName="STSong-Light", fontSize=11, leading=18, wordWrap="CJK")
    document = SimpleDocTemplate(path, pagesize=A4, title="季度报告")
    text = "本季度公司的营业收入同比增长百分之十二，主要来自华东地区的新客户。管理层认为这一趋势将在明年继续，并计划扩大投资。"
    document.build([Paragraph("季度报告", ParagraphStyle("zt", parent=style, fontSize=20, leading=30)), Paragraph(text * 3, style)])


def form(path):
    """Fields of a form, notes, and an attachment of nothing."""
    page = canvas.Canvas(path, pagesize=A4)
    page.drawString(72, 760, "Please fill in")
    fields = page.acroForm
    fields.textfield(name="person", tooltip="Your name", x=72, y=700, width=200, value="Grace")
    fields.checkbox(name="agrees", tooltip="I agree", x=72, y=660, checked=True)
    fields.choice(name="city", tooltip="City", x=72, y=620, width=100, value="Rome", options=["Rome", "Oslo"])
    fields.radio(name="size", value="small", x=72, y=580, selected=True)
    fields.radio(name="size", value="large", x=112, y=580)
    page.textAnnotation("Is this right?", Rect=[300, 700, 320, 720], addtopage=1, name="note")
    page.bookmarkPage("start")
    page.addOutlineEntry("The form", "start", 0)
    page.showPage()
    page.save()


def scan(path):
    """A page that is a picture, and one with a layer of invisible text over its picture."""
    page = canvas.Canvas(path, pagesize=A4)
    page.drawImage(ImageReader(picture(600, 840, "gray")), 0, 0, *A4)
    page.showPage()
    page.drawImage(ImageReader(picture(600, 840, "gray")), 0, 0, *A4)
    text = page.beginText(72, 700)
    text.setTextRenderMode(3)
    text.textLine("Recognised words under the picture")
    page.drawText(text)
    page.showPage()
    page.save()


def protected(path):
    """A file that wants a password."""
    from reportlab.lib import pdfencrypt

    page = canvas.Canvas(path, encrypt=pdfencrypt.StandardEncryption("secret", strength=128))
    page.drawString(72, 700, "hidden words")
    page.save()


def rows(path):
    """A table that fills a page."""
    cells = [["Number", "Square"]] + [[str(number), str(number * number)] for number in range(30)]
    style = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    SimpleDocTemplate(path, pagesize=A4).build([Table(cells, style=style)])


def many(path, pages):
    """Dense pages."""
    document = SimpleDocTemplate(path, pagesize=A4)
    style = ParagraphStyle("dense", parent=BODY, fontSize=8, leading=9.5)
    story = []
    for number in range(pages):
        story.append(Paragraph(f"Chapter {number}", STYLES["Heading2"]))
        story += [Paragraph(SENTENCE * 11 + words("n", 12), style) for _ in range(5)]
        story.append(PageBreak())
    document.build(story)


def main(folder, kinds):
    makers = {
        "report": report,
        "columns": columns,
        "chinese": chinese,
        "form": form,
        "scan": scan,
        "protected": protected,
        "rows": rows,
        "many": lambda path: many(path, 40),
    }
    for kind in kinds or makers:
        makers[kind](os.path.join(folder, f"{kind}.pdf"))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
