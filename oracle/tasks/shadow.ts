/**
 * Modules that a new file could stand in front of: Python's standard library and its test runners. A file of such
 * a name at an import root is loaded by the runner in place of the real one.
 */
const NAMES = new Set(
  `abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2
  cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent
  configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib
  dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions
  ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib
  imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox
  mailcap marshal math mimetypes mmap modulefinder multiprocessing netrc nntplib ntpath nturl2path numbers opcode
  operator optparse os pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint
  profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource
  rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket
  socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct
  subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios test textwrap this
  threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata
  unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp
  zipfile zipimport zlib zoneinfo
  _pytest pytest py pluggy iniconfig packaging exceptiongroup hypothesis nose nose2 mock xdist coverage pytest_cov
  pytest_asyncio anyio setuptools pkg_resources pip wheel tox numpy pandas attr attrs`
    .split(/\s+/)
    .map((name) => name.toLowerCase()),
);

const IMPORT_ROOTS = new Set(['', 'src', 'lib', 'python']);
const MODULE = /^([a-z_][a-z0-9_]*)(\.[a-z0-9_-]+)?\.pyi?$/i;

/**
 * Whether a file that the diff adds would be imported in place of a module of the runner's. Inside a package
 * (a directory with `__init__.py`) names are free: `app/types.py` is `app.types`.
 * @param path the added file.
 * @param exists whether a path is in the base commit or is added by the same diff.
 * @param extra further names, from the task: its installed packages.
 */
export function shadowsModule(
  path: string,
  exists: (path: string) => boolean,
  extra: readonly string[] = [],
): boolean {
  const parts = path.split('/');
  const file = parts.pop() ?? '';
  const taken = (name: string) =>
    NAMES.has(name.toLowerCase()) || extra.some((own) => own.toLowerCase() === name.toLowerCase());
  const module = MODULE.exec(file)?.[1];
  if (module === undefined) return false;
  const isRoot = IMPORT_ROOTS.has(parts.join('/').toLowerCase());
  const inPackage = parts.some((_, at) => exists(`${parts.slice(0, at + 1).join('/')}/__init__.py`));
  if (taken(module)) return isRoot || !inPackage;
  // The first directory under an import root may itself be the name: src/pytest/__init__.py.
  return parts.some(
    (name, at) => taken(name) && IMPORT_ROOTS.has(parts.slice(0, at).join('/').toLowerCase()),
  );
}
