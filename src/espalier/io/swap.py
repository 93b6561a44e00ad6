"""Exchange of two paths in one step, on systems that support it."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

#: `RENAME_EXCHANGE` of Linux and `RENAME_SWAP` of macOS have the same value.
_EXCHANGE = 2
_AT_FDCWD = -100
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two files or folders of one file system. Neither name is missing at any moment.

    Returns:
        Whether they were exchanged; False if the system or file system does not support it.

    Raises:
        OSError: the exchange is refused, for example for lack of permission.
    """
    paths = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renamex_np(*paths, _EXCHANGE)
        else:
            failed = library.renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _EXCHANGE)
    except (AttributeError, TypeError, OSError):  # the C library has no such function
        return False
    code = ctypes.get_errno() if failed else 0
    if code and code not in _UNSUPPORTED:
        raise OSError(code, os.strerror(code), str(other))
    return not code
