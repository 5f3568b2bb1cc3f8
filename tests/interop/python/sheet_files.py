"""Writes workbooks with known content into a folder: sheet_files.py FOLDER"""

import base64
import datetime
import pathlib
import sys

import openpyxl
import xlsxwriter
import xlwt
from odf.number import DateStyle, Day, Month, NumberStyle, Number, Text as NumberText, Year
from odf.opendocument import OpenDocumentSpreadsheet
from odf.style import Style
from odf.table import Table, TableCell, TableRow
from odf.text import P
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font

folder = pathlib.Path(sys.argv[1])
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


def openpyxl_workbook():
    book = openpyxl.Workbook()
    book.properties.title = "Plan"
    book.properties.creator = "Ann"
    book.properties.keywords = "sales, plan"
    sheet = book.active
    sheet.title = "Sales"
    sheet["A1"] = "Sales report"
    sheet["A1"].font = Font(bold=True)
    sheet.merge_cells("A1:C1")
    for row in [["Region", "Date", "Sum", "Growth"], ["North", datetime.date(2024, 3, 15), 1250, 0.12],
                ["南", datetime.datetime(2024, 3, 16, 10, 30), 980.5, -0.05]]:
        sheet.append([] if row is None else row)
    sheet["A2"].font = Font(bold=True)
    for row in (3, 4):
        sheet.cell(row, 3).number_format = "#,##0"
        sheet.cell(row, 4).number_format = "+0%;-0%"
    sheet["A5"] = "Total"
    sheet["C5"] = "=SUM(C3:C4)"
    sheet["A3"].hyperlink = "https://example.com/north?a=1&b=2"
    sheet["C3"].comment = Comment("check this", "Bo")
    sheet["F2"] = "Notes"
    sheet["F3"] = True
    sheet["F9"] = "alone"
    chart = BarChart()
    chart.title = "Sum by region"
    chart.add_data(Reference(sheet, min_col=3, min_row=2, max_row=4), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=3, max_row=4))
    sheet.add_chart(chart, "H2")
    hidden = book.create_sheet("Hidden")
    hidden["B2"] = "secret"
    hidden.sheet_state = "hidden"
    book.create_sheet("Empty")
    book.save(folder / "openpyxl.xlsx")


def xlsxwriter_workbook():
    book = xlsxwriter.Workbook(folder / "xlsxwriter.xlsx")
    sheet = book.add_worksheet("Data")
    sheet.write_row(0, 0, ["n", "square"])
    for n in range(1, 101):
        sheet.write_number(n, 0, n)
        sheet.write_formula(n, 1, f"=A{n + 1}*A{n + 1}", None, n * n)
    sheet.write_url("D1", "https://example.com/", string="a link")
    sheet.write_rich_string("D3", "rich ", book.add_format({"bold": True}), "text")
    sheet.write_string("D5", "line\r\nbreak & <tag> _x0041_")
    image = folder / "dot.png"
    image.write_bytes(DOT)
    sheet.insert_image("F2", str(image), {"description": "A dot", "x_scale": 20, "y_scale": 10})
    chart = book.add_chart({"type": "line"})
    chart.add_series({"name": "Squares", "categories": "=Data!$A$2:$A$11", "values": "=Data!$B$2:$B$11"})
    chart.set_title({"name": "Growth"})
    sheet.insert_chart("F12", chart)
    sheet.insert_textbox("F30", "A box")
    sheet.set_header("&CConfidential")
    table = book.add_worksheet("Table")
    table.add_table("B3:C5", {"data": [["a", "x"], ["b", "y"]], "columns": [{"header": "Key"}, {"header": "Value"}]})
    book.add_chartsheet("Chart").set_chart(second_chart(book))
    book.close()


def second_chart(book):
    chart = book.add_chart({"type": "pie"})
    chart.add_series({"values": "=Data!$A$2:$A$4"})
    return chart


def large_workbook():
    book = xlsxwriter.Workbook(folder / "large.xlsx", {"constant_memory": True})
    sheet = book.add_worksheet("Large")
    sheet.write_row(0, 0, [f"column {n}" for n in range(10)])
    for row in range(1, 20_001):
        for column in range(10):
            sheet.write_number(row, column, row * 10 + column)
    book.close()


def xlwt_workbook():
    book = xlwt.Workbook()
    sheet = book.add_sheet("Old")
    date = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    money = xlwt.easyxf(num_format_str="#,##0")
    for column, name in enumerate(["Name", "Date", "Sum"]):
        sheet.write(0, column, name)
    sheet.write(1, 0, "中文")
    sheet.write(1, 1, datetime.date(2024, 3, 15), date)
    sheet.write(1, 2, 1250, money)
    sheet.write(2, 0, "total")
    sheet.write(2, 2, xlwt.Formula("SUM(C2:C2)"))
    sheet.write_merge(4, 4, 0, 2, "merged")
    book.add_sheet("Second").write(0, 0, "alone")
    book.save(str(folder / "xlwt.xls"))


def odf_workbook():
    book = OpenDocumentSpreadsheet()
    number = NumberStyle(name="N1")
    number.addElement(Number(decimalplaces=0, minintegerdigits=1, grouping="true"))
    book.automaticstyles.addElement(number)
    book.automaticstyles.addElement(Style(name="ce1", family="table-cell", datastylename="N1"))
    table = Table(name="Open")
    for cells in [["Name", "Date", "Sum"], ["North", datetime.date(2024, 3, 15), 1250]]:
        row = TableRow()
        for value in cells:
            if isinstance(value, str):
                cell = TableCell(valuetype="string")
                cell.addElement(P(text=value))
            elif isinstance(value, datetime.date):
                cell = TableCell(valuetype="date", datevalue=value.isoformat())
                cell.addElement(P(text=value.isoformat()))
            else:
                cell = TableCell(valuetype="float", value=value, stylename="ce1")
                cell.addElement(P(text=f"{value:,}"))
            row.addElement(cell)
        table.addElement(row)
    gap = TableRow(numberrowsrepeated=1_000_000)
    gap.addElement(TableCell(numbercolumnsrepeated=1_000))
    table.addElement(gap)
    book.spreadsheet.addElement(table)
    book.save(str(folder / "odf.ods"))


openpyxl_workbook()
xlsxwriter_workbook()
large_workbook()
xlwt_workbook()
odf_workbook()
