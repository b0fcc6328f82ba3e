"""Makes the small images of tests/data/images, of the kinds that a writer of ours does not make; needs Pillow."""

import pathlib

import numpy as np
from PIL import Image

folder = pathlib.Path(__file__).parent / "images"
folder.mkdir(exist_ok=True)
rng = np.random.default_rng(1)
ramp = np.arange(6 * 8, dtype=np.uint8).reshape(6, 8) * 5
smooth = np.stack([ramp, 255 - ramp, ramp // 2], axis=2)

Image.fromarray(smooth).save(folder / "colour.jpg", quality=100, subsampling=0)
Image.fromarray(ramp).save(folder / "grey.jpg", quality=100)
Image.fromarray(smooth).save(folder / "progressive.jpg", quality=90, progressive=True)
Image.fromarray(smooth).convert("CMYK").save(folder / "cmyk.jpg")
Image.fromarray(smooth).save(folder / "colour.png")
Image.fromarray(ramp).save(folder / "grey.png")
Image.fromarray(ramp.astype(np.uint16) * 257).save(folder / "sixteen.png")
palette = Image.fromarray((np.arange(4, dtype=np.uint8) % 3).reshape(2, 2), mode="P")
palette.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
palette.save(folder / "palette.png")
clear = np.array([[[10, 20, 30, 255], [10, 20, 30, 0]], [[0, 0, 0, 51], [255, 255, 255, 128]]], dtype=np.uint8)
Image.fromarray(clear).save(folder / "transparent.png")
Image.fromarray(np.array([[[100, 255], [100, 0]]], dtype=np.uint8)).save(folder / "grey_transparent.png")
Image.fromarray(np.array([[7]], dtype=np.uint8)).save(folder / "one.png")
Image.fromarray(np.array([[True, False]])).save(folder / "bits.png")
