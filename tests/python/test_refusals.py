"""Tests failures that end a process: another release, a refused value, an unreadable context or secret."""

import json
import os
import shlex
import sys

import launching


class Refusals(launching.LaunchTest):
    def assert_stopped(self, outcome, *parts):
        self.assertEqual(outcome.code, 1)
        self.assertNotIn("the script goes on", outcome.out)
        self.assertEqual(outcome.err.count("\n"), 1, outcome.err)
        for part in ("muster_context: worker.2: ", self.path("context/worker.2.json")) + parts:
            self.assertIn(part, outcome.err)

    def test_another_release_ends_the_process_with_both_named(self):
        self.write_context("1.6.2", set_context={"mode": 0})
        outcome = self.run_script("import mindspore; print('the script goes on')", standin="other")
        self.assert_stopped(outcome, "1.6.2", "1.9.0", "accept_release")
        self.assertEqual(self.calls(), [])
        applied = self.applied()
        self.assertEqual((applied["imported"], applied["release"], applied["expected"], applied["complete"]),
                         (True, "1.9.0", "1.6.2", False))
        self.assertEqual([error["kind"] for error in applied["errors"]], ["release"])

    def test_another_release_is_applied_if_the_recipe_accepts_it(self):
        self.write_context("1.6.2", accept_release=True, set_context={"mode": 0})
        self.must_run("import mindspore", standin="other")
        self.assertEqual(self.calls(), [("set_context", "mode", "0")])
        self.assertEqual((self.applied()["release"], self.applied()["expected"]), ("1.9.0", "1.6.2"))

    def test_an_error_cannot_be_swallowed_by_the_script(self):
        self.write_context("1.0.1")
        scripts = ("try:\n    import mindspore\nexcept:\n    pass\nprint('the script goes on')",
                   "import threading\nthread = threading.Thread(target=lambda: __import__('mindspore'))\n"
                   "thread.start()\nthread.join()\nprint('the script goes on')")
        for script in scripts:
            self.assert_stopped(self.run_script(script), "1.0.1", "1.6.2")

    def test_what_the_script_has_printed_before_is_not_lost(self):
        self.write_context("1.0.1")
        outcome = self.run_script("print('before')\nimport mindspore")
        self.assertEqual((outcome.code, outcome.out), (1, "before\n"))

    def test_a_release_that_does_not_say_which_is_another_one(self):
        self.write_context("1.6.2")
        self.write("nameless/mindspore/__init__.py", "")
        self.assert_stopped(self.run_script("import mindspore", standin=self.path("nameless")),
                            "an unknown one")

    def test_releases_are_compared_by_number_and_candidate(self):
        for recipe, imported, same in (
                ("2.3.1", "2.3.1", True), ("2.3.0-rc2", "2.3.0rc2", True), ("2.3.0-rc2", "2.3.0", False),
                ("2.3.0-rc2", "2.3.0rc1", False), ("2.3.1", "2.3.10", False), ("0.3.1", "0.3.1-alpha", True),
                ("2.3.1", "2.3.1.dev20240801", True), ("1.0.1", "1.0", False), ("1.9.0", "1.9", True),
                ("2.3.1", "unknown", False)):
            with self.subTest(recipe=recipe, imported=imported):
                self.setUp()
                self.write_context(recipe)
                self.write("one/mindspore/__init__.py", "__version__ = %r" % imported)
                outcome = self.run_script("import mindspore", standin=self.path("one"))
                self.assertEqual(outcome.code, 0 if same else 1, outcome.err)

    def test_a_value_that_is_refused_ends_the_process_and_is_named(self):
        self.write_context(set_context={"device_target": "CPU", "max_call_depth": 2000, "mode": 0})
        outcome = self.run_script("import mindspore; print('the script goes on')", standin="refusing")
        self.assert_stopped(outcome, "set_context(max_call_depth=2000) raised ValueError",
                            "max_call_depth must be small, but got 2000")
        applied = self.applied()
        self.assertEqual(applied["applied"], {"set_context": {"device_target": "CPU", "mode": 0}})
        self.assertEqual((applied["complete"], applied["at_exit"], applied["overridden"]),
                         (False, None, None))
        error = applied["errors"][0]
        self.assertEqual((error["kind"], error["function"], error["attribute"], error["value"]),
                         ("setter", "set_context", "max_call_depth", 2000))

    def test_a_function_that_the_release_lacks_is_named(self):
        self.write_context("0.3.1", set_ps_context={"enable_ps": True})
        self.write("early/mindspore/__init__.py", "__version__ = '0.3.1-alpha'")
        outcome = self.run_script("import mindspore", standin=self.path("early"))
        self.assert_stopped(outcome, "0.3.1-alpha has no set_ps_context")

    def test_a_context_that_is_none_ends_the_process(self):
        for text in ("", "{", "[]", '{"format": 2}', '{"format": 1, "mindspore": "1.6.2"}',
                     '{"format": 1, "mindspore": "1.6.2", "context": {"set_colour": {}}}'):
            with self.subTest(text):
                self.write("context/worker.2.json", text)
                self.assert_stopped(self.run_script("import mindspore"), "its context cannot be read")
                self.assertEqual(self.applied()["errors"][0]["kind"], "context")

    def test_an_explicit_call_refuses_in_the_same_way(self):
        self.write_context("1.6.2")
        outcome = self.run_script("import muster_context as m; m.apply(); print('the script goes on')",
                                  standin="other", hook=False)
        self.assert_stopped(outcome, "1.6.2", "1.9.0")


class Secrets(launching.LaunchTest):
    SECRET = "h\u00fcnter2 \"quoted\" \\"

    def everything_written(self):
        texts = []
        for folder, _, names in os.walk(self.path("context")):
            for name in names:
                with open(os.path.join(folder, name)) as file:
                    texts.append(file.read())
        return "".join(texts)

    def test_a_secret_comes_from_a_file_and_is_never_shown(self):
        file = self.write("secrets/client", self.SECRET)
        self.write_context(set_ps_context={"client_password": {"secret_file": file}, "enable_ps": True})
        outcome = self.must_run("import mindspore, muster_context; print(muster_context.settings())")
        self.assertEqual(self.calls(), [("set_ps_context", "enable_ps", "True"),
                                        ("set_ps_context", "client_password", repr(self.SECRET))])
        self.assertNotIn("nter2", self.everything_written() + outcome.out)
        applied = self.applied()
        self.assertEqual(applied["applied"]["set_ps_context"]["client_password"], "(secret)")
        self.assertNotIn("client_password", json.dumps([applied["in_effect"], applied["at_exit"]]))
        self.assertNotIn(("get_ps_context", "client_password", "None"), self.calls("get_"))

    def test_a_secret_comes_from_a_descriptor_that_no_child_inherits(self):
        for kind in ("file", "pipe"):
            with self.subTest(kind):
                self.setUp()
                if kind == "file":
                    descriptor = os.open(self.write("secret", self.SECRET), os.O_RDONLY)
                else:
                    descriptor, writing = os.pipe()
                    os.write(writing, self.SECRET.encode("utf-8"))
                    os.close(writing)
                self.addCleanup(os.close, descriptor)
                self.write_context(set_ps_context={"server_password": {"secret_fd": descriptor}})
                outcome = self.must_run("""
import os, mindspore, muster_context
print(muster_context.settings()["set_ps_context"]["server_password"])
print(ascii(muster_context.settings(secrets=True)["set_ps_context"]["server_password"]))
try:
    os.fstat(%d)
except OSError:
    print("closed")
""" % descriptor, pass_fds=[descriptor])
                self.assertEqual(outcome.out, "(secret)\n%s\nclosed\n" % ascii(self.SECRET))
                self.assertEqual(self.calls(), [("set_ps_context", "server_password", repr(self.SECRET))])
                self.assertNotIn("nter2", self.everything_written())

    def test_one_python_after_the_other_reads_the_secret_from_the_same_descriptor(self):
        descriptor = os.open(self.write("secret", "hunter2"), os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        self.write_context(set_ps_context={"server_password": {"secret_fd": descriptor}})
        python = shlex.quote(sys.executable) + " -c 'import mindspore'"
        outcome = self.run_command(["sh", "-c", python + " && " + python], pass_fds=[descriptor])
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.assertEqual(self.calls(), [("set_ps_context", "server_password", "'hunter2'")] * 2)

    def test_a_password_in_the_context_itself_is_not_shown_either(self):
        self.write_context(set_ps_context={"client_password": self.SECRET})
        self.must_run("import mindspore")
        self.assertEqual(self.applied()["applied"], {"set_ps_context": {"client_password": "(secret)"}})

    def test_a_setter_that_quotes_the_secret_is_not_quoted(self):
        file = self.write("secrets/client", self.SECRET)
        self.write_context(set_ps_context={"client_password": {"secret_file": file}})
        outcome = self.run_script("import mindspore", standin="refusing")
        self.assertEqual(outcome.code, 1)
        self.assertIn("set_ps_context(client_password='(secret)') raised ValueError: "
                      "the password (secret) is too short", outcome.err)
        self.assertNotIn("nter2", outcome.err + json.dumps(self.applied()))
        self.assertEqual(self.applied()["errors"][0]["value"], "(secret)")

    def test_a_secret_that_cannot_be_read_ends_the_process(self):
        unreadable = ({"secret_file": self.path("nothing")}, {"secret_fd": 99})
        for value in unreadable:
            self.write_context(set_ps_context={"enable_ps": True, "client_password": value})
            outcome = self.run_script("import mindspore")
            self.assertEqual(outcome.code, 1)
            self.assertIn("the secret for client_password of set_ps_context cannot be read", outcome.err)
            self.assertEqual(self.applied()["errors"][0]["kind"], "secret")
            self.assertEqual(self.applied()["applied"], {"set_ps_context": {"enable_ps": True}})
