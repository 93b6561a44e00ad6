"""The names of metrics, by task or family: a metric that comes or goes unseen fails a test."""

from typing import Final

from espalier.metrics import rouge, ted
from espalier.metrics.brackets import Brackets
from espalier.metrics.integrity import METRICS as MARKS
from espalier.metrics.integrity import deviation_metrics
from espalier.metrics.literals import Literals
from espalier.metrics.perplexity import METRICS, Perplexity
from espalier.metrics.rhyme import Rhyme
from espalier.metrics.verse_format import FormatAccuracy

#: The metrics of verses of which only texts, language and likelihood are known, always all of them.
VERSE: Final = (
    "perplexity", "perplexity_words", "ppl_released", "distinct_1_macro", "distinct_2_macro", "distinct_1_micro",
    "distinct_2_micro", "format_macro_p", "format_macro_r", "format_macro_f1", "format_micro_p", "format_micro_r",
    "format_micro_f1", "format_released_macro_f1", "format_released_micro_f1", "rhyme_macro_p", "rhyme_macro_r",
    "rhyme_macro_f1", "rhyme_micro_p", "rhyme_micro_r", "rhyme_micro_f1", "rhyme_released_macro_f1",
    "rhyme_released_micro_f1", "rhyme_accuracy", "rhyme_shuffled_macro_f1", "rhyme_shuffled_micro_f1",
    "rhyme_released_shuffled_macro_f1", "rhyme_released_shuffled_micro_f1", "rhyme_within_macro_f1",
    "rhyme_within_micro_f1", "rhyme_units_macro_f1", "rhyme_units_micro_f1", "rhyme_unknown",
)  # fmt: skip

#: The metrics of `Perplexity` of the dev split. The paper prints perplexities of both splits.
VERSE_DEV: Final = tuple(f"{metric.name}_dev" for metric in METRICS)

#: The texts whose format occurs in training, and the others; of these metrics, a value of each under NAME_PART.
PARTS: Final = ("seen", "new")
OF_PARTS: Final = (*Perplexity.in_parts, *FormatAccuracy.in_parts, *Rhyme.in_parts)
VERSE_PARTS: Final = tuple(f"{name}_{part}" for part in PARTS for name in OF_PARTS)

INTEGRITY: Final = tuple(metric.name for metric in (*MARKS, *deviation_metrics(1, 1)))
LITERALS: Final = tuple(metric.name for metric in Literals.metrics)

#: The metrics of `prosody_statistics`, always all of them, in this order.
PROSODY: Final = (
    "variant_fit", "variant_fit_clauses", "rhyme_cilin", "rhyme_mandarin", "tone_book", "tone_mandarin",
    "tones_whole_book", "tones_whole_mandarin", "repeated_lines", "verse_whole_book", "verse_whole_mandarin",
)  # fmt: skip

#: The metrics of `paraphrase_statistics`, always all of them.
PARAPHRASE: Final = (
    "bleu", "length_ratio", "brevity_penalty", "bleu_source", *rouge.KEYS, "meteor", *ted.KEYS,
    *ted.GUIDE_KEYS, "template_kept", "repeated_words", "negation_lost", "negation_doubled", "empty",
    "incomprehensible", "perplexity",
)  # fmt: skip

#: The metrics of `espalier.metrics.expansion.FAMILIES`, always all of them.
EXPANSION: Final = (*ted.KEYS, "template_kept", "exact", "nodes_ratio", "tags_at_leaves")

#: The metrics of `reply_families`, always all of them.
DIALOGUE: Final = (
    "bleu", "length_ratio", "brevity_penalty", "bleu_all", "bleu_list", "bleu_best",
    "distinct_1", "distinct_2", "distinct_1_macro", "distinct_2_macro",
    "perplexity_per_word", "perplexity_per_token", "perplexity_exact_per_word", "recall_1_of_10", "tree_whole",
    "grammatical", "copied", "commonest", "empty", "words",
)  # fmt: skip

#: Those of `Attachment`, in this order.
ATTACHMENT: Final = ("uas", "las", "tag_accuracy", "attachment_errors")

BRACKETS: Final = tuple(metric.name for metric in Brackets.metrics)
