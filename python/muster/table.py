"""A list of dictionaries that knows its columns."""

from . import display


class Table(list):
    """Rows as dictionaries; `frame()` is a data frame of pandas. A notebook shows it as a table."""

    @property
    def columns(self):
        """Names of the columns, in the order in which they first occur."""
        names = {}
        for row in self:
            names.update(dict.fromkeys(row))
        return list(names)

    def column(self, name):
        """The values of one column, None where a row has none."""
        return [row.get(name) for row in self]

    def frame(self):
        """The rows as a pandas.DataFrame; ImportError without pandas."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)

    def __getitem__(self, which):
        found = super().__getitem__(which)
        return Table(found) if isinstance(which, slice) else found

    def _repr_html_(self):
        return display.frame(display.table(self.columns, self), height=min(420, 60 + 26 * len(self)))
