"""The nursery: seeded grammars that generate the embedded corpora. The same seed gives the same rows on every machine.

`espalier.corpora.readers.READERS` names them.
"""
