"""Frames: what a text must satisfy, by its characters, words and readings alone."""

from espalier.frames.frame import Acrostic as Acrostic
from espalier.frames.frame import Form as Form
from espalier.frames.frame import Format as Format
from espalier.frames.frame import Frame as Frame
from espalier.frames.frame import Meter as Meter
from espalier.frames.frame import Rhyme as Rhyme
from espalier.frames.frame import Syllables as Syllables
from espalier.frames.frame import Template as Template
from espalier.frames.frame import Tones as Tones
from espalier.frames.frame import Tune as Tune
from espalier.frames.frame import Words as Words
