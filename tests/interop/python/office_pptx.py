"""Writes slides with everything that python-pptx can write, to the path that is given."""

import io
import sys

from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches


def picture():
    stream = io.BytesIO()
    Image.new("RGB", (40, 20), "red").save(stream, "PNG")
    stream.seek(0)
    return stream


def main(path):
    deck = Presentation()
    deck.core_properties.title = "The deck"
    title, content, blank = deck.slide_layouts[0], deck.slide_layouts[1], deck.slide_layouts[6]

    slide = deck.slides.add_slide(title)
    slide.shapes.title.text = "Welcome 欢迎"
    slide.placeholders[1].text = "A subtitle"
    slide.notes_slide.notes_text_frame.text = "Say hello.\nSmile."

    slide = deck.slides.add_slide(content)
    slide.shapes.title.text = "Points"
    frame = slide.placeholders[1].text_frame
    frame.text = "one"
    for text, level in [("inner", 1), ("deeper", 2), ("two", 0)]:
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    box = slide.shapes.add_textbox(Inches(1), Inches(5), Inches(3), Inches(1)).text_frame
    run = box.paragraphs[0].add_run()
    run.text, run.hyperlink.address = "the site", "https://example.com/a"
    paragraph = box.add_paragraph()
    run = paragraph.add_run()
    run.text, run.font.bold = "bold", True
    run = paragraph.add_run()
    run.text = " words"

    slide = deck.slides.add_slide(blank)
    slide._element.set("show", "0")
    table = slide.shapes.add_table(3, 3, Inches(1), Inches(1), Inches(5), Inches(2)).table
    for column, text in enumerate(["Name", "Count", "Share"]):
        table.cell(0, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(1, 0).text = "merged"
    table.cell(1, 1).text = "1,250"
    table.cell(2, 1).merge(table.cell(2, 2))
    table.cell(2, 1).text = "wide"
    data = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("East", (5, 30.4))
    data.add_series("West", (7, 8))
    chart = slide.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(3), Inches(4), Inches(3), data
    ).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Sales"
    image = slide.shapes.add_picture(picture(), Inches(6), Inches(1))
    image._element.nvPicPr.cNvPr.set("descr", "A red box")
    slide.shapes.add_movie(io.BytesIO(b"film"), 0, 0, Inches(1), Inches(1), mime_type="video/mp4")
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "grouped"
    deck.save(path)


main(sys.argv[1])
