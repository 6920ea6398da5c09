"""A list of dictionaries that knows its columns."""

from typing import TYPE_CHECKING, Any, Dict, List, Union, overload

from . import display

if TYPE_CHECKING:
    import pandas


class Table(List[Dict[str, Any]]):
    """Rows as dictionaries; `frame()` is a data frame of pandas. A notebook shows it as a table."""

    @property
    def columns(self) -> List[str]:
        """Names of the columns, in the order in which they first occur."""
        names: Dict[str, None] = {}
        for row in self:
            names.update(dict.fromkeys(row))
        return list(names)

    def column(self, name: str) -> List[Any]:
        """The values of one column, None where a row has none."""
        return [row.get(name) for row in self]

    def frame(self) -> "pandas.DataFrame":
        """The rows as a pandas.DataFrame; ImportError without pandas."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)

    @overload  # type: ignore[override]
    def __getitem__(self, which: int) -> Dict[str, Any]: ...

    @overload
    def __getitem__(self, which: slice) -> "Table": ...

    def __getitem__(self, which: Any) -> Union["Table", Dict[str, Any]]:
        found = super().__getitem__(which)
        return Table(found) if isinstance(which, slice) else found

    def _repr_html_(self) -> str:
        return display.frame(display.table(self.columns, self), height=min(420, 60 + 26 * len(self)))
