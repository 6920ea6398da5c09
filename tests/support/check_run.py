#!/usr/bin/env python3
"""Checks run directories independently: does their content match docs/journal.md and
docs/run_directory.md?

Written from those documents, with the standard library only, independent of muster's sources. The checks:

  format   every line's checksum, number and order; modes 0700 and 0600; no link among the run's own files
  pages    every file, event and field is documented in the two pages
  I1  each process_started has exactly one process_exited, and no process exits that was not started
  I2  signals go only to attempts that were started and whose exit was not recorded before
  I3  when the run has ended no process remains: the agents' attestations cover every start, and no process of
      this machine has the run's MUSTER_PROCESS
  I4  exit code and outcome follow from the first cause; the report's first failure is the journal's
  I5  every attempt that ran has its log file, and no log is there for an attempt that was never ordered; files
      that a lost host did not send may be missing
  I6  the report's receipt, attempts and outcome match the journal
  I7  no attempt is ordered or started twice; attempts of a process count up from 0 without gaps
  I8  restarts stay within the budgets that they were planned with, and nothing starts while ports
      are being replaced
  I9  dumps are taken one after the other, and each one ends
  I10 a terminal is opened at most once for an attempt and closed before the attempt's end; its log has the
      terminal's output; no deadline of the job passes meanwhile
  I11 each host is activated at most once, all before anything starts, and nothing starts on a host where that failed
  I12 descriptors of head and agent at the end are as many as at the start, memory within bounds
  I13 other hosts are all reached before anything starts, each once and by one name; clocks are compared
      only with theirs, each time more exactly
  I14 a host of the plan is replaced only after its machine was lost, or a verdict excluded it and nothing runs there,
      by a reached spare that replaces no other host;
      nothing starts between the command and the answer, nor on a lost host; and no two attempts of a process run
      at the same time: the one before has exited, or its host was lost

For run directories of a killed head (no run_ended), only the rules for every prefix apply.
"""

import argparse
import json
import os
import pathlib
import stat
import sys

sys.dont_write_bytecode = True  # leave no files in the source tree
import run_pages  # noqa: E402

SPARE_DESCRIPTORS = 16  # descriptors opened after the first count: for the connection, logs and launcher
SPARE_MEMORY_KIB = 65536


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


class Run:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.problems = []
        self.records = []
        self.report = None
        self.plan = None

    def wrong(self, invariant, text):
        self.problems.append(f"{invariant}: {text}")

    def of(self, *events):
        return [record for record in self.records if record["event"] in events]

    def one(self, event):
        found = self.of(event)
        return found[0] if found else None

    @property
    def ended(self):
        return self.one("run_ended")


def read_journal(run):
    data = (run.folder / "journal.jsonl").read_bytes()
    lines = data.split(b"\n")
    if lines[-1]:
        run.wrong("format", "the last line of the journal is cut")
    before = 0
    for number, line in enumerate(lines[:-1], 1):
        body, mark, tail = line.rpartition(b',"crc":"')
        if not mark or tail[-2:] != b'"}' or f"{crc32c(body):08x}".encode() != tail[:-2]:
            run.wrong("format", f"line {number}: the checksum does not fit")
            return
        record = json.loads(line)
        if record["seq"] != number:
            run.wrong("format", f"line {number} has number {record['seq']}")
            return
        if record["at"] < before:
            run.wrong("format", f"line {number}: the head's monotonic clock went back")
        before = record["at"]
        run.records.append(record)
    # An empty journal is valid, too: its head was killed before the first record.
    if run.records and (run.records[0]["event"] != "run_began" or run.records[0]["format"] != 1):
        run.wrong("format", "the journal does not begin with run_began of format 1")
    if run.ended and run.records[-1]["event"] != "run_ended":
        run.wrong("format", "records follow run_ended")


def check_modes(run):
    own = ["plan.json", "plan.txt", "inputs.json", "journal.jsonl", "binding.json", "report.json", "report.txt", "lock"]
    # access = "group" of a site file: the folder has that mode, and the group may only read.
    of_group = stat.S_IMODE(run.folder.stat().st_mode) == 0o2750
    modes, others = ({0o600, 0o640}, 0o027) if of_group else ({0o600}, 0o077)
    if stat.S_IMODE(run.folder.stat().st_mode) not in (0o700, 0o2750):
        run.wrong("format", "the run directory is not 0700")
    for name in own:
        path = run.folder / name
        if not os.path.lexists(path):
            continue
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode) or stat.S_IMODE(mode) not in modes:
            run.wrong("format", f"{name} is not a file of mode 0600")
    for path in (run.folder / "logs").glob("*"):
        if stat.S_IMODE(path.lstat().st_mode) & others:
            run.wrong("format", f"logs/{path.name} can be read by others")
    for path in (run.folder / "dumps").rglob("*"):
        mode = path.lstat().st_mode
        if stat.S_IMODE(mode) != (0o700 if stat.S_ISDIR(mode) else 0o600) or stat.S_ISLNK(mode):
            run.wrong("format", f"{path.relative_to(run.folder)} can be read by others")


def attempt(record):
    return (record["process"], record["attempt"])


def check_ends(run):
    started, ended = {}, set()
    lost = bool(run.of("agent_lost"))
    for record in run.records:
        event = record["event"]
        if event == "process_started":
            key = attempt(record)
            if key in started:
                run.wrong("I1", f"{key} was started twice")
            started[key] = record
        elif event == "process_exited":
            key = attempt(record)
            if key not in started:
                run.wrong("I1", f"{key} ended and was not started")
            if key in ended:
                run.wrong("I1", f"{key} ended twice")
            ended.add(key)
        elif event == "signal_sent":
            key = attempt(record)
            if key not in started:
                run.wrong("I2", f"{key} got signal {record['signal']} and was not started")
            if key in ended:
                run.wrong("I2", f"{key} got signal {record['signal']} after its end")
    if run.ended and not lost and run.ended["cause"] not in ("lost", "overdue"):
        for key in sorted(set(started) - ended):
            run.wrong("I1", f"{key} was started and its end is not recorded")
    return started, ended


def check_attestation(run, started, ended):
    if not run.ended:
        return
    hosts = {record["host"] for record in run.of("agent_connected")}
    empty = {record["host"]: record for record in run.of("agent_empty")}
    lost = {record["host"] for record in run.of("agent_lost")}
    if run.ended["cause"] != "overdue":
        for host in sorted(hosts - set(empty) - lost):
            run.wrong("I3", f"the agent of host {host} neither attests its end nor is lost")
    if empty and not lost:
        said = sum(record["started"] for record in empty.values())
        reaped = sum(record["reaped"] for record in empty.values())
        if said != len(started) or reaped != len(ended):
            run.wrong("I3", f"agents attest {said} started and {reaped} reaped, the journal has {len(started)} and {len(ended)}")
        if said != reaped:
            run.wrong("I3", f"{said} started, {reaped} reaped")
    token = f"MUSTER_PROCESS={run.records[0]['run']}/".encode()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            environment = pathlib.Path(entry.path, "environ").read_bytes()
        except OSError:
            continue
        if any(variable.startswith(token) for variable in environment.split(b"\0")):
            run.wrong("I3", f"process {entry.name} of the run is alive")


def outcome_of(cause):
    return {"none": "ok", "failed": "failed", "spawn": "failed", "unready": "failed", "stopped": "stopped",
            "time_limit": "failed", "lost": "lost", "overdue": "lost"}[cause]


def check_exit_code(run):
    if not run.ended:
        return
    cause, code = run.ended["cause"], run.ended["exit_code"]
    passed = run.records[0]["pass_exit_code"]
    expected = {"none": {0}, "spawn": {3}, "unready": {3}, "lost": {3}, "overdue": {3}, "time_limit": {1}}.get(cause)
    first = (run.of("failure_traced") or run.of("first_failure") or [None])[-1]
    if cause == "failed":
        expected = {1}
        if passed and first:
            ends = [r for r in run.of("process_exited") if attempt(r) == attempt(first)]
            expected = {128 + ends[0]["code"] if ends[0]["signalled"] else ends[0]["code"]} if ends else {1}
    elif cause == "stopped":
        stops = run.of("stop_requested")
        expected = {128 + stops[0]["signal"]} if stops and stops[0]["signal"] else None
    if expected is not None and code not in expected:
        run.wrong("I4", f"cause {cause} gives exit code {code}, not {sorted(expected)}")
    if cause == "failed" and not first:
        run.wrong("I4", "the run failed and no first failure is recorded")
    origin = run.report and run.report["first_failure"]
    ends = [r for r in run.of("process_exited") if first and attempt(r) == attempt(first)]
    if cause == "failed" and origin and ends:
        if f"{origin['role']}.{origin['index']}" != names(run)[first["process"]]:
            run.wrong("I4", f"the report's origin is not {names(run)[first['process']]}, the first failure of the journal")
        if origin["exit_code"] != (None if ends[0]["signalled"] else ends[0]["code"]):
            run.wrong("I4", f"the report tells another end of {names(run)[first['process']]} than the journal")
    stops = run.of("stop_ordered")
    failures = run.of("first_failure")
    if cause == "failed" and failures and not run.of("restart_planned", "limit_passed"):
        if stops and stops[0]["seq"] < failures[0]["seq"]:
            serving = [r for r in run.of("phase") if r["to"] == "lingering" and r["seq"] < stops[0]["seq"]]
            if not serving and not run.of("stop_requested"):
                run.wrong("I4", "a stop was ordered before the first failure was recorded")
    if run.report and run.report["outcome"] != outcome_of(cause):
        run.wrong("I4", f"cause {cause} is reported as {run.report['outcome']}")
    if run.report and run.report["exit_code"] != code:
        run.wrong("I4", f"the report says exit code {run.report['exit_code']}, the journal {code}")


def names(run):
    """Names of the plan's processes in its order, from the report."""
    return [f"{p['role']}.{p['index']}" for p in run.report["processes"]] if run.report else None


def machines_of(run):
    """Where each attempt was ordered: the plan's host by its number, or the spare that took its place."""
    plan = json.loads((run.folder / "plan.json").read_bytes())
    number_of = {host["label"]: number for number, host in enumerate(plan["hosts"])}
    stands, machines = {}, {}
    for record in run.of("host_replaced", "start_ordered"):
        if record["event"] == "start_ordered":
            host = number_of[plan["processes"][record["process"]]["host"]]
            machines[attempt(record)] = stands.get(host, host)
        elif not record["error"]:
            stands[record["host"]] = record["by"]
    return machines


def check_logs(run, started):
    known = names(run)
    if known is None:
        return
    files = {path.name for path in (run.folder / "logs").glob("*.log") if not path.match("activation.host*.log")}
    ordered = {f"{known[r['process']]}.{r['attempt']}.log" for r in run.of("start_ordered")}
    apart = {record["host"] for record in run.of("host_reached") if not record["shares_run_dir"]}
    lost = apart & {record["host"] for record in run.of("agent_lost")}
    machines = machines_of(run)
    for key in sorted(started):
        name = f"{known[key[0]]}.{key[1]}.log"
        if name not in files and machines.get(key) not in lost:
            run.wrong("I5", f"{name} is missing")
    for name in sorted(files - ordered):
        run.wrong("I5", f"{name} belongs to no attempt that was ordered")


def is_terse(run):
    """Whether this is a run among many, such as a sweep's trial: it omits files that repeat the journal."""
    return run.records[0]["descriptors"] == 0


def check_report(run, started, ended):
    if not run.report:
        if run.ended and not (is_terse(run) and run.ended["cause"] == "none"):
            run.wrong("I6", "the run ended and has no report.json")
        return
    receipt = run.report["receipt"]
    if receipt["started"] != len(started):
        run.wrong("I6", f"the receipt says {receipt['started']} started, the journal {len(started)}")
    if not run.of("agent_lost") and receipt["reaped"] != len(ended):
        run.wrong("I6", f"the receipt says {receipt['reaped']} reaped, the journal {len(ended)}")
    # The agent may be lost after the run has another cause to end.
    if run.ended and run.ended["cause"] not in ("lost", "overdue") and not run.of("agent_lost") and receipt["left"] != 0:
        run.wrong("I6", f"the receipt says that {receipt['left']} are left")
    by_attempt = {}
    for number, process in enumerate(run.report["processes"]):
        for one in process["attempts"]:
            by_attempt[(number, one["attempt"])] = one
    for record in run.of("process_exited"):
        told = by_attempt.get(attempt(record))
        if told is None:
            run.wrong("I6", f"the report lacks {attempt(record)}")
            continue
        code = None if record["signalled"] else record["code"]
        if told["exit_code"] != code or (told["signal"] is None) == record["signalled"]:
            run.wrong("I6", f"{attempt(record)}: the report tells another end than the journal")


def check_attempts(run):
    ordered = {}
    for record in run.of("start_ordered"):
        process, number = attempt(record)
        expected = ordered.get(process, -1) + 1
        if number != expected:
            run.wrong("I7", f"process {process}: attempt {number} is ordered where {expected} is next")
        ordered[process] = max(number, ordered.get(process, -1))
    for record in run.of("process_started", "spawn_failed"):
        process, number = attempt(record)
        if number > ordered.get(process, -1):
            run.wrong("I7", f"{(process, number)} was started and not ordered")
    phases = ["preparing", "starting", "running", "lingering", "stopping", "finishing", "done"]
    for record in run.of("phase"):
        if phases.index(record["to"]) <= phases.index(record["from"]):
            run.wrong("I7", f"the phase goes back: {record['from']} to {record['to']}")


def check_dumps(run):
    """Dumps are taken one after the other, and each of them ends before the run."""
    taking = None
    for record in run.of("dump_ordered", "dump_ended", "run_ended"):
        event = record["event"]
        if event == "dump_ordered":
            if taking is not None:
                run.wrong("I9", f"dump {record['dump']} is ordered while dump {taking} is taken")
            taking = record["dump"]
        elif event == "dump_ended":
            if taking != record["dump"]:
                run.wrong("I9", f"dump {record['dump']} ends and is not being taken")
            taking = None
        elif event == "run_ended" and taking is not None:
            run.wrong("I9", f"dump {taking} outlives the run")


def pauses(timer):
    """Whether a timer does not run while a process has the user's terminal."""
    return timer in (1, 4, 5) or 16 <= timer < 3 << 32


def check_terminals(run):
    known = names(run)
    opened, live = set(), None
    for record in run.of("pty_opened", "pty_closed", "process_exited", "deadline"):
        event = record["event"]
        if event == "deadline":
            if live is not None and pauses(record["timer"]):
                run.wrong("I10", f"timer {record['timer']} passes while {live} has the terminal")
            continue
        key = attempt(record)
        if event == "pty_opened":
            if key in opened or live is not None:
                run.wrong("I10", f"a terminal is opened for {key} once more, or while {live} has it")
            opened.add(key)
            live = key
        elif event == "pty_closed":
            if live != key:
                run.wrong("I10", f"a terminal is closed that {key} has not")
            live = None
            log = known and run.folder / "logs" / f"{known[key[0]]}.{key[1]}.log"
            if log and log.stat().st_size != record["bytes"] - record["unlogged"]:
                run.wrong("I10", f"{log.name} has {log.stat().st_size} bytes, {record['bytes']} were written to the terminal")
        elif key == live:
            run.wrong("I10", f"{key} ended, and its terminal was not closed before")


def check_activations(run):
    """The plan's activation is executed once on every host, before the first start."""
    activated = run.of("host_activated")
    hosts = [record["host"] for record in activated]
    starts = run.of("start_ordered")
    wanted = json.loads((run.folder / "plan.json").read_bytes()).get("activation", [])
    if len(set(hosts)) != len(hosts):
        run.wrong("I11", "a host was activated twice")
    if activated and not wanted:
        run.wrong("I11", "a host was activated, and the plan has nothing to activate")
    if starts and wanted and len(hosts) != len(run.of("agent_connected")):
        run.wrong("I11", f"processes were started with {len(hosts)} hosts activated")
    for record in activated:
        if starts and (record["error"] or record["seq"] > starts[0]["seq"]):
            run.wrong("I11", f"processes were started and host {record['host']} was not activated")
        if not (run.folder / "logs" / f"activation.host{record['host']}.log").exists() and not record["error"]:
            run.wrong("I11", f"the activation of host {record['host']} has no log")


def check_restarts(run):
    for record in run.of("restart_planned"):
        if record["count"] > record["max"]:
            run.wrong("I8", f"restart {record['count']} of at most {record['max']} for process {record['process']}")
        again = [r for r in run.of("start_ordered") if r["seq"] > record["seq"]]
        for process in record["processes"]:
            if run.ended and run.ended["cause"] == "none" and not any(r["process"] == process for r in again):
                run.wrong("I8", f"process {process} was to be started again and was not")
    waiting = False
    for record in run.of("rebind_ordered", "plan_rebound", "start_ordered"):
        if record["event"] == "start_ordered":
            if waiting:
                run.wrong("I8", f"process {record['process']} was ordered to start while other ports were looked for")
        else:
            waiting = record["event"] == "rebind_ordered"


def check_hosts(run):
    """host_reached: of every host of the run, or of none. clock_compared: of those, with ever smaller errors."""
    reached, errors = {}, {}
    connected = set()
    for record in run.records:
        event = record["event"]
        if event == "agent_connected":
            connected.add(record["host"])
        elif event == "host_reached":
            host = record["host"]
            if host in reached or host not in connected:
                run.wrong("I13", f"host {host} is reached twice, or before its agent was connected")
            if not isinstance(record["name"], str) or not record["name"] or not isinstance(record["address"], str):
                run.wrong("I13", f"host {host} is reached without a name, or by an address that is not text")
            if not isinstance(record["shares_run_dir"], bool):
                run.wrong("I13", f"host {host} neither sees the run directory nor does not")
            reached[host] = record
        elif event == "clock_compared":
            host = record["host"]
            if host not in reached:
                run.wrong("I13", f"the clock of host {host} is compared, and it was never reached")
            if not isinstance(record["offset_ns"], int) or record["error_ns"] < 0:
                run.wrong("I13", f"the clock of host {host} is off by no number, or has an error below 0")
            if record["error_ns"] >= errors.get(host, record["error_ns"] + 1):
                run.wrong("I13", f"the clock of host {host} is compared worse than before")
            errors[host] = record["error_ns"]
        elif event in ("plan_bound", "start_ordered") and reached and set(reached) != connected:
            run.wrong("I13", f"{event}, and of hosts {sorted(connected)} only {sorted(reached)} were reached")
            break
    bound = run.one("plan_bound")
    for host, record in reached.items():
        if bound and host < len(bound["hosts"]) and bound["hosts"][host]["name"] != record["name"]:
            run.wrong("I13", f"host {host} was reached as {record['name']} and is bound as {bound['hosts'][host]['name']}")


def check_places(run):
    hosts = [host["label"] for host in json.loads((run.folder / "plan.json").read_bytes())["hosts"]]
    number_of = {label: number for number, label in enumerate(hosts)}
    host_of = [number_of[p["host"]] for p in json.loads((run.folder / "plan.json").read_bytes())["processes"]]
    stands = {number: number for number in range(len(hosts))}  # the machine of each of the plan's hosts
    reached = {record["host"] for record in run.of("host_reached")}
    lost, taken, ordered, excluded = set(), set(), {}, set()
    there = {}  # process -> machine
    for record in run.records:
        event = record["event"]
        if event == "agent_lost":
            lost.add(record["host"])
            ordered = {host: by for host, by in ordered.items() if by != record["host"]}
        elif event == "failure_judged" and record["verdict"] == "exclude_host" and record["obeyed"]:
            excluded.add(record["host"])
        elif event == "replace_ordered":
            host, by = record["host"], record["by"]
            if stands[host] not in lost | excluded:
                run.wrong("I14", f"host {host} is replaced and was neither lost nor excluded")
            if stands[host] not in lost and stands[host] in there.values():
                run.wrong("I14", f"host {host} is replaced while a process runs there")
            if by < len(hosts) or by not in reached or by in taken or by in lost:
                run.wrong("I14", f"{by} is to take the place of host {host} and is no spare")
            taken.add(by)
            ordered[host] = by
        elif event == "host_replaced":
            host = record["host"]
            if ordered.get(host) == record["by"]:
                del ordered[host]
                stands[host] = stands[host] if record["error"] else record["by"]
        elif event == "start_ordered":
            process, machine = record["process"], stands[host_of[record["process"]]]
            if ordered:
                run.wrong("I14", f"process {process} is ordered to start while a place is taken")
            if machine in lost:
                run.wrong("I14", f"process {process} is ordered to start on {machine}, which was lost")
            if process in there and there[process] not in lost:
                run.wrong("I14", f"process {process} is ordered to start, and its attempt before has not ended")
            there[process] = machine
        elif event in ("process_exited", "spawn_failed"):
            there.pop(record["process"], None)


def check_counts(run):
    pairs = []
    if run.ended and not is_terse(run):
        pairs.append(("the head", run.records[0], run.ended))
    for ready in run.of("agent_connected"):
        for empty in run.of("agent_empty"):
            if empty["host"] == ready["host"]:
                pairs.append((f"the agent of host {ready['host']}", ready, empty))
    for who, first, last in pairs:
        if first["descriptors"] == 0 or last["descriptors"] == 0:
            run.wrong("I12", f"{who}: no descriptors were counted")
        hosts = len(run.of("agent_connected")) if who == "the head" else 0  # a connection to each
        if last["descriptors"] > first["descriptors"] + SPARE_DESCRIPTORS + 2 * hosts:
            run.wrong("I12", f"{who}: {first['descriptors']} descriptors at the start, {last['descriptors']} at the end")
        grown = last["memory_kib"] - first["memory_kib"]
        if grown > SPARE_MEMORY_KIB:
            run.wrong("I12", f"{who}: {grown} KiB more memory at the end than at the start")


def check_pages(run):
    untold = {line for record in run.records for line in run_pages.untold_of_record(record)}
    for line in sorted(untold) + list(run_pages.untold_of_files(run.folder)) + list(
            run_pages.untold_of_json(run.folder)):
        run.wrong("pages", line)


def check(folder):
    run = Run(folder)
    try:
        read_journal(run)
        report = run.folder / "report.json"
        if report.is_file():
            run.report = json.loads(report.read_bytes())
        check_modes(run)
        check_pages(run)
        if run.records:
            started, ended = check_ends(run)
            check_attestation(run, started, ended)
            check_exit_code(run)
            check_logs(run, started)
            check_report(run, started, ended)
            check_attempts(run)
            check_restarts(run)
            check_dumps(run)
            check_terminals(run)
            check_activations(run)
            check_hosts(run)
            check_places(run)
            check_counts(run)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as problem:
        run.wrong("format", f"cannot be checked: {type(problem).__name__}: {problem}")
    return run


def run_directories(paths):
    for path in paths:
        if (path / "journal.jsonl").is_file():
            yield path
        else:
            yield from sorted(journal.parent for journal in path.rglob("journal.jsonl")
                              if not (journal.parent / "sweep.json").exists())  # checked by check_sweep.py


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog="example: tests/support/check_run.py runs/")
    parser.add_argument("paths", type=pathlib.Path, nargs="+", help="run directories, or folders that hold some")
    parser.add_argument("--quiet", action="store_true", help="only what is wrong, and the last line")
    arguments = parser.parse_args()
    bad = count = whole = 0
    for folder in run_directories(arguments.paths):
        run = check(folder)
        count += 1
        whole += run.ended is not None
        bad += bool(run.problems)
        for problem in run.problems:
            print(f"{folder}: {problem}")
        if not run.problems and not arguments.quiet:
            print(f"{folder}: ok, {len(run.records)} records")
    print(f"check_run: {count} run directories ({whole} with their end), {bad} with problems")
    sys.exit(1 if bad or count == 0 else 0)


if __name__ == "__main__":
    main()
