"""Words for benepar's character LSTM: each distinct word once, grouped by length, without padding."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import torch
from torch import Tensor

#: Control characters for the edges of words and sentences, and for unknown characters.
_UNKNOWN, _START_SENTENCE, _START_WORD, _STOP_WORD, _STOP_SENTENCE = "\0", "\1", "\2", "\3", "\4"
#: The boundary symbols before the first word and after the last word, treated as words.
EDGES: Final = (_START_SENTENCE * 3, _STOP_SENTENCE * 3)
#: Words that the LSTM reads at once.
_AT_ONCE: Final = 2048


def numbered(sentences: Iterable[Sequence[str]]) -> tuple[list[str], list[list[int]]]:
    """The distinct words of sentences, and each sentence as their numbers, with edge symbols."""
    numbers: dict[str, int] = {}
    rows = [
        [numbers.setdefault(word, len(numbers)) for word in (EDGES[0], *sentence, EDGES[1])] for sentence in sentences
    ]
    return list(numbers), rows


def padded(rows: Sequence[Sequence[int]], value: int = 0) -> tuple[Tensor, Tensor]:
    """Rows of numbers as one tensor, (rows, longest), and a mask of real entries."""
    lengths = torch.tensor([len(row) for row in rows])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    tensor = torch.full(mask.shape, value)
    tensor[mask] = torch.tensor([number for row in rows for number in row])
    return tensor, mask


def word_vectors(encoder: Any, words: Sequence[str], characters: Mapping[str, int]) -> Tensor:
    """The vectors of words, (words, D / 2).

    In training, dropout is drawn once for each word of the list, even if the word occurs several times in a batch.

    Args:
        encoder: benepar's `CharacterLSTM`.
        characters: numbers of characters.
    """
    device = encoder.emb.weight.device
    order = sorted(range(len(words)), key=lambda index: len(words[index]))
    vectors = []
    first = 0
    while first < len(order):
        size = len(words[order[first]])
        last = first + 1
        while last < min(len(order), first + _AT_ONCE) and len(words[order[last]]) == size:
            last += 1
        ids = torch.tensor([_spelled(words[index], characters) for index in order[first:last]], device=device)
        _, (hidden, _) = encoder.lstm(encoder.char_dropout(encoder.emb(ids.T)))
        vectors.append(torch.cat([hidden[0], hidden[1]], -1))
        first = last
    place = torch.empty(len(order), dtype=torch.long)
    place[torch.tensor(order, dtype=torch.long)] = torch.arange(len(order))
    return torch.cat(vectors).index_select(0, place.to(device))


def _spelled(word: str, characters: Mapping[str, int]) -> list[int]:
    unknown = characters[_UNKNOWN]
    return [
        characters[_START_WORD],
        *(characters.get(character, unknown) for character in word),
        characters[_STOP_WORD],
    ]
