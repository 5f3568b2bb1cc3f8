"""Writes a Word document with everything that python-docx can write, to the path that is given."""

import io
import sys

from docx import Document
from docx.enum.section import WD_SECTION
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from PIL import Image


def picture():
    stream = io.BytesIO()
    Image.new("RGB", (40, 20), "red").save(stream, "PNG")
    stream.seek(0)
    return stream


def add_link(paragraph, text, url):
    relation = paragraph.part.relate_to(
        url, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink", is_external=True
    )
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), relation)
    run = OxmlElement("w:r")
    words = OxmlElement("w:t")
    words.text = text
    run.append(words)
    link.append(run)
    paragraph._p.append(link)


def main(path):
    document = Document()
    document.core_properties.title = "The report"
    document.core_properties.author = "Ada"
    document.core_properties.keywords = "sums, 数据"
    document.sections[0].header.paragraphs[0].text = "Confidential"
    document.sections[0].footer.paragraphs[0].text = "Page 1"

    document.add_heading("Report 报告", 0)
    paragraph = document.add_paragraph("Plain, ")
    paragraph.add_run("bold").bold = True
    paragraph.add_run(" and ")
    paragraph.add_run("italic").italic = True
    paragraph.add_run(", see ")
    add_link(paragraph, "the site", "https://example.com/a")
    paragraph.add_run(".")
    add_link(document.add_paragraph(), "Only a link", "https://example.com/b")

    document.add_heading("Lists", 1)
    for text, style in [
        ("one", "List Number"),
        ("two", "List Number"),
        ("inner", "List Bullet 2"),
        ("three", "List Number"),
        ("first", "List Bullet"),
        ("below", "List Bullet 2"),
        ("second", "List Bullet"),
    ]:
        document.add_paragraph(text, style)

    document.add_heading("Tables", 1)
    table = document.add_table(3, 3)
    for column, text in enumerate(["Name", "Count", "Share"]):
        table.cell(0, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0)).text = "merged"
    table.cell(1, 1).text = "1,250"
    table.cell(1, 2).text = "12%"
    table.cell(2, 1).merge(table.cell(2, 2)).text = "wide"

    document.add_page_break()
    document.add_heading("Pictures", 2)
    document.add_picture(picture())
    document.inline_shapes[0]._inline.docPr.set("descr", "A red box")
    commented = document.add_paragraph("Some commented words here.")
    document.add_comment(commented.runs, "Is that so?", author="Bob", initials="B")
    changed = document.add_paragraph("Kept ")
    for xml in [
        f'<w:ins {nsdecls("w")} w:author="Eve" w:date="2026-01-02T03:04:05Z"><w:r><w:t>new</w:t></w:r></w:ins>',
        f'<w:del {nsdecls("w")} w:author="Eve"><w:r><w:delText>old</w:delText></w:r></w:del>',
    ]:
        changed._p.append(parse_xml(xml))
    document.add_paragraph()._p.append(
        parse_xml(
            '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:f><m:num><m:r><m:t>a</m:t></m:r>'
            "</m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"
        )
    )
    for line in ["let x = 1;", "", "let y = 2;"]:
        document.add_paragraph(line, "macro")

    section = document.add_section(WD_SECTION.NEW_PAGE)
    section.header.is_linked_to_previous = False
    section.header.paragraphs[0].text = "Appendix"
    document.add_paragraph("The end.")
    document.save(path)


main(sys.argv[1])
