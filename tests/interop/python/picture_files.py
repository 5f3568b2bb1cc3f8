"""Writes pictures of every format that Pillow writes into a folder: picture_files.py FOLDER"""

import pathlib
import sys

from PIL import Image

folder = pathlib.Path(sys.argv[1])
picture = Image.new("RGB", (60, 40), "navy")
for ending in ["png", "gif", "webp", "bmp", "tiff", "ico", "avif"]:
    picture.save(folder / f"plain.{ending}")

notes = Image.Exif()
notes[0x0112] = 6  # Orientation: turned by 90°.
notes[0x010F] = "Canon"
notes[0x0110] = "Canon EOS 40D"
notes[0x010E] = "A blue field"
notes[0x013B] = "Ada"
notes.get_ifd(0x8769)[0x9003] = "2024:03:15 10:30:00"
picture.save(folder / "camera.jpg", exif=notes)
picture.save(folder / "camera.webp", exif=notes)
