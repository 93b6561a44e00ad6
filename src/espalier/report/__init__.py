"""Reports: every run beside the row printed in its paper, as a web page, as Markdown or as CSV.

`load_printed` reads the printed numbers of a paper, and `build` puts runs beside them. `render_html`, `render_markdown`
and `render_csv` write the same report in different formats. `items_of` collects all test items, and `summary_of` the
overview for the page over all papers. `comparisons_of` compares runs by the statistics of their segments, and
`orderings_json` gives the numbers behind each claim of the paper. This package neither searches for files nor computes
scores.
"""
