"""Runs Debian's torchrun with a fix: under Python 3.11 its parsing of --redirects and --tee fails.

Replaces that one function and nothing that is timed; then runs torchrun.
"""

from torch.distributed.elastic.multiprocessing import api


def from_text(text):
    names = {"0": api.Std.NONE, "1": api.Std.OUT, "2": api.Std.ERR, "3": api.Std.ALL}
    return names[text] if text in names else {
        int(pair.split(":")[0]): names[pair.split(":")[1]] for pair in text.split(",")}


api.Std.from_str = staticmethod(from_text)

from torch.distributed.run import main  # noqa: E402: it copies the function at import

main()
