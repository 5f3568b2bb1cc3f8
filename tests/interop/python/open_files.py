"""Writes OpenDocument texts and slides, and rich text, with odfpy and pandoc into a folder: open_files.py FOLDER"""

import io
import pathlib
import sys

import pypandoc
from odf import dc, draw, office, presentation, style, svg, table, text
from odf.namespaces import PRESENTATIONNS
from odf.opendocument import OpenDocumentPresentation, OpenDocumentText
from PIL import Image

folder = pathlib.Path(sys.argv[1])

MARKDOWN = """---
title: The report
author: Ada
keywords: [sums, 数据]
---

# First chapter

Some **bold** and *italic* and `code` words, a [link](https://example.com/a).[^1]

[^1]: Below the page.

1. one
2. two

    - inner
    - deeper

        More of it.

3. three

## Code

```python
def f():
    return 1
```

# 第二章

| Name  | Sum   |
|-------|------:|
| North | 1,250 |
| 南    | 7     |

![A red box](box.png)

> Quoted words.
"""


def picture():
    stream = io.BytesIO()
    Image.new("RGB", (40, 20), "red").save(stream, "PNG")
    return stream.getvalue()


def pandoc_text():
    (folder / "box.png").write_bytes(picture())
    arguments = ["--standalone", f"--resource-path={folder}"]
    for kind in ["odt", "rtf"]:
        path = str(folder / f"pandoc.{kind}")
        pypandoc.convert_text(MARKDOWN, kind, "markdown", outputfile=path, extra_args=arguments)


def paragraph(words, **attributes):
    return text.P(text=words, **attributes)


def odfpy_text():
    book = OpenDocumentText()
    book.meta.addElement(dc.Title(text="Made by odfpy"))
    page = style.PageLayout(name="L")
    book.automaticstyles.addElement(page)
    master = style.MasterPage(name="Standard", pagelayoutname="L")
    header, footer = style.Header(), style.Footer()
    header.addElement(paragraph("Confidential"))
    footer.addElement(paragraph("The footer"))
    master.addElement(header)
    master.addElement(footer)
    book.masterstyles.addElement(master)
    broken = style.Style(name="Break", family="paragraph")
    broken.addElement(style.ParagraphProperties(breakbefore="page"))
    book.automaticstyles.addElement(broken)
    listed = text.ListStyle(name="Numbers")
    listed.addElement(text.ListLevelStyleNumber(level="1", numformat="1", numsuffix="."))
    listed.addElement(text.ListLevelStyleNumber(level="2", numformat="a", numsuffix=")", startvalue="3"))
    book.automaticstyles.addElement(listed)

    book.text.addElement(text.H(outlinelevel=1, text="Title 标题"))
    words = paragraph("A text")
    comment = office.Annotation()
    comment.addElement(dc.Creator(text="Bo"))
    comment.addElement(dc.Date(text="2024-03-15T10:00:00"))
    comment.addElement(paragraph("Why?"))
    words.addElement(comment)
    words.addText(" with")
    words.addElement(text.S(c=3))
    words.addText("blanks")
    note = text.Note(noteclass="endnote")
    note.addElement(text.NoteCitation(text="i"))
    body = text.NoteBody()
    body.addElement(paragraph("Behind."))
    note.addElement(body)
    words.addElement(note)
    book.text.addElement(words)
    items = text.List(stylename="Numbers")
    for name, inner in [("first", None), ("second", "inside"), ("third", None)]:
        item = text.ListItem()
        item.addElement(paragraph(name))
        if inner:
            nested, below = text.List(), text.ListItem()
            below.addElement(paragraph(inner))
            nested.addElement(below)
            item.addElement(nested)
        items.addElement(item)
    book.text.addElement(items)
    book.text.addElement(paragraph("On the next page", stylename="Break"))
    book.text.addElement(merged_table())
    book.save(str(folder / "odfpy.odt"))


def merged_table():
    grid = table.Table(name="T")
    grid.addElement(table.TableColumn(numbercolumnsrepeated=3))
    rows = [
        [("Name", {}), ("wide", {"numbercolumnsspanned": 2}), None],
        [("tall", {"numberrowsspanned": 2}), ("b", {}), ("c", {})],
        [None, ("d", {}), ("e", {})],
    ]
    for cells in rows:
        row = table.TableRow()
        for cell in cells:
            if cell is None:
                row.addElement(table.CoveredTableCell())
                continue
            one = table.TableCell(**cell[1])
            one.addElement(paragraph(cell[0]))
            row.addElement(one)
        grid.addElement(row)
    return grid


def odfpy_slides():
    deck = OpenDocumentPresentation()
    deck.meta.addElement(dc.Title(text="The deck"))
    layout = style.PageLayout(name="L")
    deck.automaticstyles.addElement(layout)
    master = style.MasterPage(name="M", pagelayoutname="L")
    deck.masterstyles.addElement(master)
    hidden = style.Style(name="dp2", family="drawing-page")
    hidden.addElement(style.DrawingPageProperties(visibility="hidden"))
    deck.automaticstyles.addElement(hidden)

    def frame(page, content, kind=None):
        box = draw.Frame(width="10cm", height="5cm", x="1cm", y="1cm")
        if kind:
            box.setAttrNS(PRESENTATIONNS, "class", kind)
        box.addElement(content)
        page.addElement(box)
        return box

    def box(*content):
        text_box = draw.TextBox()
        for one in content:
            text_box.addElement(one)
        return text_box

    first = draw.Page(name="page1", masterpagename="M")
    frame(first, box(paragraph("Welcome 欢迎")), "title")
    items = text.List()
    for words, inner in [("one", "inner"), ("two", None)]:
        item = text.ListItem()
        item.addElement(paragraph(words))
        if inner:
            nested, below = text.List(), text.ListItem()
            below.addElement(paragraph(inner))
            nested.addElement(below)
            item.addElement(nested)
        items.addElement(item)
    frame(first, box(items), "outline")
    link = paragraph("")
    link.addElement(text.A(href="https://example.com/", text="the site"))
    frame(first, box(link))
    notes = presentation.Notes()
    frame(notes, box(paragraph("Say hello."), paragraph("Smile.")), "notes")
    first.addElement(notes)
    deck.presentation.addElement(first)

    second = draw.Page(name="page2", masterpagename="M", stylename="dp2")
    frame(second, merged_table())
    name = deck.addPictureFromString(picture(), "image/png")
    shown = frame(second, draw.Image(href=name))
    shown.addElement(svg.Desc(text="A red box"))
    deck.presentation.addElement(second)
    deck.save(str(folder / "odfpy.odp"))


pandoc_text()
odfpy_text()
odfpy_slides()
