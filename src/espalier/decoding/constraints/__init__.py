"""Constraints: what may come next, as masks over a vocabulary.

`constraint.py` is the interface. The others by task:

- verse: `frame.py` (format, tones, lines that a tune repeats), `rhyme.py`. `places.py` and `sound_classes.py` are parts
  of them. `espalier.tasks.verse_search.verse_constraint` combines them.
- paraphrase: `trees.py` and `brackets.py` (trees), `words.py` (given words), `word_classes.py` (parts of speech).
- dialogue: `preorder.py`.
- compose: `template.py`.
"""
