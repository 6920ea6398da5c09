"""sitecustomize hands over to the one that it shadows and has no effect in a Python outside a run."""

import ast
import glob
import os
import re
import shutil
import sys

import launching

OURS = os.path.join(launching.SITE, "sitecustomize.py")

STATE = ("import sys; m = sys.modules.get('sitecustomize'); print(m and (m.__name__, m.__file__, dir(m)),"
         " [name for name in sys.modules if 'muster' in name], [type(finder) for finder in sys.meta_path])")


class Shadowed(launching.LaunchTest):
    def shadowed(self, text):
        self.write("theirs/sitecustomize.py", text)
        return [self.path("theirs")]

    def both(self, script, *flags, **options):
        """The outcomes of a script with our folder on PYTHONPATH, and without."""
        return [self.run_script(script, *flags, hook=hook, **options) for hook in (True, False)]

    def test_the_shadowed_one_runs_under_its_own_name_and_from_its_own_file(self):
        self.write_context(set_context={"mode": 0})
        folders = self.shadowed("import sys\nseen = (__name__, __file__, __package__, sorted(globals()))\n"
                                "def function():\n    return seen\n")
        script = "import sitecustomize as s, sys; print(s.function(), s is sys.modules[s.__name__], dir(s))"
        ours, theirs = self.both(script, folders=folders)
        self.assertEqual((ours.code, ours.out, ours.err), (0, theirs.out, theirs.err))
        self.assertIn(self.path("theirs/sitecustomize.py"), ours.out)

    def test_the_shadowed_one_fails_as_it_would_without_us(self):
        self.write_context(set_context={"mode": 0})
        for text in ("1 / 0", "import nothing_of_this_name", "raise SystemExit(5)", "import os; os._exit(6)",
                     "if True print()", "import sitecustomize; sitecustomize.x"):
            with self.subTest(text):
                ours, theirs = self.both("import mindspore; print('trained')", folders=self.shadowed(text))
                self.assertEqual((ours.code, ours.out), (theirs.code, theirs.out))
                # A traceback, where Python prints one at all, goes through our file.
                without_us = re.sub(r'  File "%s".*\n(    .*\n)+' % re.escape(OURS), "", ours.err)
                self.assertEqual(without_us, theirs.err)

    def test_the_settings_are_applied_whatever_becomes_of_the_shadowed_one(self):
        self.write_context(set_context={"mode": 0})
        self.run_script("import mindspore", folders=self.shadowed("1 / 0"))
        self.assertTrue(self.applied()["complete"])

    def test_a_shadowed_one_that_imports_mindspore_gets_the_settings(self):
        self.write_context(set_context={"mode": 0})
        self.must_run("import mindspore", folders=self.shadowed("import mindspore"))
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_a_shadowed_package_is_one_too(self):
        self.write_context()
        self.write("theirs/sitecustomize/__init__.py", "import os\nprint(os.path.basename(__path__[0]))")
        ours, theirs = self.both("", folders=[self.path("theirs")])
        self.assertEqual((ours.out, ours.err), (theirs.out, theirs.err))
        self.assertEqual(ours.out, "sitecustomize\n")

    def test_without_a_shadowed_one_it_is_as_if_there_were_none(self):
        self.write_context()
        script = "import sys; m = sys.modules.get('sitecustomize'); print(m and m.__file__)"
        ours, theirs = self.both(script)
        self.assertEqual((ours.out, ours.err), (theirs.out, theirs.err))

    def test_our_folder_may_be_on_the_path_more_than_once_and_under_another_name(self):
        self.write_context(set_context={"mode": 0})
        os.symlink(launching.SITE, self.path("link"))
        self.must_run("import mindspore", folders=[self.path("link"), launching.SITE])
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])

    def test_our_folder_is_not_on_the_path_of_the_script(self):
        self.write_context()
        outcome = self.must_run(
            "import sys; print(%r in sys.path, %r in sys.path)" % (launching.SITE, launching.PYTHON))
        self.assertEqual(outcome.out, "False True\n")


class NotOurs(launching.LaunchTest):
    def test_without_muster_context_nothing_is_loaded_and_nothing_written(self):
        outcomes = [self.must_run(STATE, hook=hook, MUSTER_CONTEXT=None) for hook in (True, False)]
        self.assertEqual(outcomes[0].out, outcomes[1].out)
        self.assertEqual(os.listdir(self.path("context")), [])

    def test_flags_that_leave_the_hook_out_leave_the_script_alone(self):
        self.write_context(set_context={"mode": 0})
        paths = [os.path.join(launching.STANDINS, "old"), launching.STANDINS]
        for flag in ("-I", "-E", "-S"):
            with self.subTest(flag):
                outcome = self.must_run("import sys; sys.path[:0] = %r; import mindspore;"
                                        "print(mindspore.context.get_context('mode'))" % paths, flag, "-B")
                self.assertEqual(outcome.out, "1\n")
                self.assertFalse(os.path.exists(self.path("context/worker.2.applied.json")))

    def test_a_broken_package_of_ours_is_one_line(self):
        self.write_context(set_context={"mode": 0})
        os.makedirs(self.path("python/site"))
        shutil.copy(OURS, self.path("python/site"))
        self.write("python/muster_context/__init__.py", "raise RuntimeError('broken')")
        self.write("theirs/sitecustomize.py", "print('theirs')")
        outcome = self.run_command(
            [sys.executable, "-c", "import mindspore; print('trained')"],
            PYTHONPATH=os.pathsep.join([self.path("python/site"), self.path("theirs"),
                                        os.path.join(launching.STANDINS, "old"), launching.STANDINS]))
        self.assertEqual((outcome.code, outcome.out), (0, "theirs\ntrained\n"))
        self.assertEqual(outcome.err, "muster_context: RuntimeError: broken\n")

    def test_a_python_that_is_too_old_is_left_alone(self):
        self.write_context(set_context={"mode": 0})
        with open(OURS) as file:
            self.write("early/sitecustomize.py", "import sys\nsys.version_info = (3, 6, 15)\n" + file.read())
        self.write("theirs/sitecustomize.py", "print('theirs')")
        outcome = self.must_run("import sys; print('muster_context' in sys.modules)", hook=False,
                                folders=[self.path("early"), self.path("theirs")])
        self.assertEqual(outcome.out, "theirs\nFalse\n")

    def test_the_start_loads_next_to_nothing(self):
        self.write_context(set_context={"mode": 0})
        script = "import sys; print(*sorted(sys.modules))"
        with_us, without = [set(self.must_run(script, hook=hook).out.split()) for hook in (True, False)]
        self.assertLessEqual(with_us - without, {
            "muster_context", "muster_context.at_start", "muster_context.launched", "muster_context.record",
            "_json", "fcntl", "time"})


class Sources(launching.LaunchTest):
    def sources(self, *folders):
        return [os.path.join(folder, name) for top in folders or (launching.PYTHON,)
                for folder, _, names in os.walk(top) for name in names if name.endswith(".py")]

    def test_every_file_is_python_3_7_says_what_it_knows_and_fits_on_the_screen(self):
        self.assertGreater(len(self.sources()), 8)
        for path in self.sources(launching.PYTHON, launching.HERE):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            tree = ast.parse(text, **({"feature_version": (3, 7)} if sys.version_info >= (3, 8) else {}))
            self.assertTrue(ast.get_docstring(tree), path)
            self.assertLessEqual(max(map(len, text.splitlines())), 110, path)

    def test_only_the_standard_library_is_imported(self):
        launched = {"muster_context", "sitecustomize", "_json", "_thread", "atexit", "fcntl", "importlib",
                    "json", "math", "os", "re", "sys", "threading", "time", "weakref"}
        anywhere = launched | {"html", "pandas", "shutil", "signal", "stat", "subprocess", "tempfile",
                               "torch", "typing", "warnings"}  # pandas and torch where a call needs them
        frameworks = {"keras", "lightning", "pytorch_lightning", "tensorflow", "transformers"}
        for path in self.sources():
            allowed = anywhere if os.sep + "muster" + os.sep in path else launched
            if os.path.basename(path)[:-3] in frameworks:
                allowed = allowed | frameworks
            if os.path.basename(path) == "stopping.py":  # only a call of should_stop() imports it
                allowed = allowed | {"signal", "torch"}
            with open(path, encoding="utf-8") as file:
                for node in ast.walk(ast.parse(file.read())):
                    names = [name.name for name in node.names] if isinstance(node, ast.Import) else \
                        [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                    self.assertLessEqual({name.split(".")[0] for name in names}, allowed, path)

    def test_sitecustomize_is_plain_enough_for_any_python(self):
        with open(OURS, "rb") as file:
            file.read().decode("ascii")

    def test_nothing_is_compiled_into_the_source_tree(self):
        self.write_context(set_context={"mode": 0})
        self.must_run("import mindspore, muster_context; muster_context.settings()")
        self.assertEqual(glob.glob(os.path.join(launching.PYTHON, "**", "__pycache__"), recursive=True), [])
