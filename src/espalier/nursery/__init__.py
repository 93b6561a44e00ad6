"""The nursery's corpora, which seeded grammars generate. The same seed gives the same rows on every machine.

`espalier.corpora.readers.READERS` names their functions.
"""
