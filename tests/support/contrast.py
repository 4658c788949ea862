"""Contrast as WCAG 2 measures it, and how far apart two colours look, to colour-blind eyes too."""

import math

Triple = tuple[float, float, float]


def luminance(colour: str) -> float:
    """Return the luminance of a colour `#rrggbb`, from 0 for black to 1 for white."""
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return 1 for the same colour to 21 for black on white; text needs 4.5, a graphical object 3."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


# The matrices are those of Machado, Oliveira and Fernandes (2009) for eyes that lack one kind of cone.
VISIONS: dict[str, tuple[Triple, Triple, Triple]] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red cones": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue cones": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def apart(one: str, other: str, vision: str = "normal") -> float:
    """Return how far apart two colours look, from 0 to 100 for black and white, as Oklab measures it."""
    return 100 * math.dist(_oklab(one, vision), _oklab(other, vision))


def _oklab(colour: str, vision: str) -> Triple:
    seen = _times(VISIONS[vision], _linear(colour))
    red, green, blue = (min(max(part, 0.0), 1.0) for part in seen)
    cones = _times(
        (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        ),
        (red, green, blue),
    )
    long, middle, short = (cone ** (1 / 3) for cone in cones)
    return _times(
        (
            (0.2104542553, 0.7936177850, -0.0040720468),
            (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660),
        ),
        (long, middle, short),
    )


def _linear(colour: str) -> Triple:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    )
    return red, green, blue


def _times(matrix: tuple[Triple, Triple, Triple], vector: Triple) -> Triple:
    one, two, three = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return one, two, three
