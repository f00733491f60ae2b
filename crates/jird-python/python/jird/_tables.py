"""What results have in common: `to_arrow`, `to_polars`, `to_pandas`, and how notebooks show them."""

import html

__all__ = ["Tabular"]

_SHOWN_ROWS = 10
_SHOWN_CHARACTERS = 60


class Tabular:
    """Results that are iterated and have `__arrow_c_stream__`. Each use reads the files, or runs the query, again."""

    __slots__ = ()

    def to_arrow(self):
        """A pyarrow.Table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self):
        """A polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self):
        """A pandas.DataFrame."""
        return self.to_arrow().to_pandas()

    def _repr_html_(self):
        rows = []
        for row in self:
            if len(rows) == _SHOWN_ROWS:
                rows.append(None)
                break
            rows.append(row if isinstance(row, dict) else {"": row})
        keys = list(dict.fromkeys(key for row in rows for key in row or ()))
        lines = ["<tr>" + "".join(f"<th>{_shown(key)}</th>" for key in keys) + "</tr>"]
        for row in rows:
            cells = ["…" for _ in keys] if row is None else [_shown(row[key]) if key in row else "" for key in keys]
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        return "<table>" + "".join(lines) + "</table>"


def _shown(value):
    text = value if isinstance(value, str) else repr(value)
    return html.escape(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…")
