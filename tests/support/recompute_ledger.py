#!/usr/bin/env python3
"""Computes the ledger of runs again, from their journals alone and by docs/ledger.md, and compares it with what
`muster report --ledger --json` shows.

usage: recompute_ledger.py MUSTER WORD… -- RUN_DIR… [--sweep SWEEP_DIR]

WORD… are those for muster report; RUN_DIR… the runs that the ledger must have, --sweep all trials of a sweep.
Prints one line for each difference, and exits with 1 if there is any. Written with the standard library only and
independent of muster's sources: it asks for each interval between two moments at which anything happened what a
process was doing then, where muster paints one step over the other.
"""

import collections
import datetime
import decimal
import json
import os
import pathlib
import struct
import subprocess
import sys

NS = 1_000_000_000
EVER = 1 << 100
UNKNOWN = ["unrecorded", "active", "checkpoint_time", "stopped", "checkpoint_writing"]
ROWS = ["queued", "waiting_for_devices", "starting_place", "starting_inspect", "starting_ship", "starting_start",
        "starting_ready", "productive_kept", "productive_lost", "checkpoint_stalls", "silent", "failing_stopping",
        "idle_devices"]
WORK = {"productive_kept", "productive_lost", "active", "checkpoint_time", "stopped"}
# Of several processes on one device the first of these counts.
PRECEDENCE = ["productive_kept", "active", "checkpoint_time", "stopped", "productive_lost", "checkpoint_writing",
              "checkpoint_stalls", "starting_ready", "starting_start", "silent", "starting_ship", "starting_inspect",
              "starting_place", "waiting_for_devices", "failing_stopping", "idle_devices", "unrecorded"]


def wall(text):
    """Nanoseconds since 1970."""
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    since = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


def read_lines(path):
    records = []
    for line in path.read_bytes().split(b"\n"):
        try:
            records.append(json.loads(line))
        except ValueError:
            break
    return records


class Times:
    """The lengths of a log over time."""

    def __init__(self, path):
        data = path.read_bytes()
        body = data[16 + (32 if data.startswith(b"muster-times/2") else 0):]
        self.entries = list(struct.iter_unpack("<QQ", body[:len(body) // 16 * 16]))

    def before(self, moment):
        length = 0
        for at, size in self.entries:
            if at < moment:
                length = size
        return length

    def last(self):
        return self.entries[-1][0] if self.entries else 0


class Run:
    def __init__(self, folder, result_used=False):
        self.folder = pathlib.Path(folder).absolute()
        self.plan = json.loads((self.folder / "plan.json").read_bytes())
        self.records = read_lines(self.folder / "journal.jsonl")
        self.id = self.records[0]["run"]
        self.result_used = result_used
        self.begin = self.records[0]["at"]
        self.began = wall(self.records[0]["wall"])
        ended = self.of("run_ended")
        self.cause = ended[0]["cause"] if ended else None
        self.end = self.records[-1]["at"] if ended else max(self.records[-1]["at"], self.last_sign())
        self.number_of = {host["label"]: number for number, host in enumerate(self.plan["hosts"])}
        job = self.folder / "job.json"
        self.job = json.loads(job.read_bytes()) if job.exists() else None
        self.queued = 0
        if self.job and not self.job.get("first"):
            self.queued = max(0, self.began - wall(self.job["submitted_at"]))
        self.continued_by = []
        self.clocks = {0: 0} if len(self.plan["hosts"]) == 1 else {}
        for record in self.of("host_reached", "clock_compared"):
            if record["event"] == "host_reached":
                self.clocks.pop(record["host"], None)
            else:
                self.clocks[record["host"]] = record["offset_ns"]
        self.processes = [Process(self, number) for number in range(len(self.plan["processes"]))]
        self.writes = self.read_writes()

    def of(self, *events):
        return [record for record in self.records if record["event"] in events]

    def wall(self, at):
        return self.began + at - self.begin

    def last_sign(self):
        """Of a run without an end: the last time of its files."""
        last = 0
        for path in [self.folder / "usage.jsonl"] + list(self.folder.glob("logs/*")) + list(self.folder.glob("metrics/*")):
            if path.is_file():
                last = max(last, path.stat().st_mtime_ns)
        return self.begin + max(0, last - self.began)

    def seen(self, own):
        """(record, UTC or None) of its checkpoints: its own, or those of others."""
        return [(one, None if one.get("age_ms", -1) < 0 else self.wall(one["at"]) - one.get("age_ms", -1) * 1_000_000)
                for one in self.of("checkpoint_seen") if (one["run"] == "") == own]

    def continued(self):
        others = self.seen(False)
        return others[0][0]["run"] if others else None

    def start(self):
        """The work before the run that it kept."""
        others = self.seen(False)
        return known(0) if not others else written(others[0][1])

    def checkpoints(self):
        """(path, begun or 0, written) of those that are there and that the run wrote."""
        place = self.plan.get("checkpoints")
        if not place or not place.get("dir"):
            return []
        folder = pathlib.Path(place["dir"].replace("${muster:run_dir}", str(self.folder)))
        folder = folder if folder.is_absolute() else self.folder / folder
        found = []
        for path in sorted(folder.glob(place["latest"])) if folder.is_dir() else []:
            if path.name.endswith(".tmp") or path.is_file() and path.stat().st_size == 0:
                continue
            text = subprocess.run(["stat", "-c", "%.9W", str(path)], stdout=subprocess.PIPE, check=True).stdout
            begun = int(decimal.Decimal(text.decode()) * NS)
            at = path.stat().st_mtime_ns
            if self.began <= at <= self.wall(self.end) + NS:
                found.append((path, begun, min(at, self.wall(self.end))))
        return found

    def read_writes(self):
        logs = [Times(path) for path in sorted(self.folder.glob("logs/*.idx"))]

        def grew(start, end):
            return any(one.before(end) > one.before(start) for one in logs)

        writes = []
        for _, begun, done in self.checkpoints():
            start = max(begun, self.began)
            took = done - start
            if begun == 0 or took < NS * 4 // 10 or grew(start + took // 4, done):
                continue
            stalled = grew(start - took, start) and grew(done, done + took)
            row = "checkpoint_stalls" if stalled else "checkpoint_writing"
            writes.append((self.begin + start - self.began, self.begin + done - self.began, row))
        return writes

    def fate(self):
        """Of the work of last attempts: kept until, possibly kept until, why that is not known."""
        if self.cause == "none" or self.result_used:
            return known(EVER)
        if self.continued_by:
            return self.kept_by_others()
        newest = max([at for _, at in self.seen(True) if at is not None] + [done for _, _, done in self.checkpoints()] + [0])
        if not (self.plan.get("checkpoints") or {}).get("dir") and self.cause == "stopped":
            return 0, EVER, "stopped"
        return known(newest)

    def kept_by_others(self):
        return max((one.kept_before() for one in self.continued_by), key=lambda cut: cut[:2])

    def kept_before(self):
        if self.cause == "none" or not self.continued_by:
            return self.start()
        return min(self.start(), self.kept_by_others(), key=lambda cut: cut[:2])

    def over(self):
        late = [one["at"] for one in self.of("phase") if one["to"] in ("lingering", "stopping", "finishing", "done")]
        return min(late + [EVER])

    def stop_with_checkpoint(self):
        """The interval in which a stop waited for a checkpoint."""
        asks = any(role.get("stop", {}).get("checkpoint_signal") for role in self.plan["roles"])
        stops = self.of("stop_requested")
        return (stops[0]["at"], self.over()) if asks and stops else (EVER, EVER)

    def ledger(self):
        sums = collections.Counter()
        lanes = collections.defaultdict(list)
        has_devices = any(one["devices"] for one in self.plan["processes"])
        for number, process in enumerate(self.plan["processes"]):
            host = self.number_of[process["host"]]
            for lane in process["devices"] if has_devices else [f"slot {number}"]:
                lanes[(host, lane)].append(self.processes[number])
        held = len(lanes)
        of_host = collections.Counter(host for host, _ in lanes)
        for processes in lanes.values():
            moments = sorted({moment for one in processes for moment in one.moments()} | {self.begin, self.end})
            moments = [moment for moment in moments if self.begin <= moment <= self.end]
            for start, end in zip(moments, moments[1:]):
                rows = [one.row(start) for one in processes]
                sums[min(rows, key=PRECEDENCE.index)] += end - start
        if self.job and has_devices:
            for number, host in enumerate(self.plan["hosts"]):
                unused = max(0, host["devices"] - of_host[number])
                sums["idle_devices"] += unused * (self.end - self.begin)
                held += unused
        sums["queued"] += held * self.queued
        for record in self.of("agent_connected"):
            if record["host"] < len(self.plan["hosts"]):
                continue
            until = [one["at"] for one in self.of("host_replaced") if one["by"] == record["host"] and not one["error"]]
            until += [one["at"] for one in self.of("agent_lost") if one["host"] == record["host"]]
            sums["idle_devices"] += max(of_host.values()) * (min(until + [self.end]) - record["at"])
        return has_devices, sums


def known(at):
    return at, at, "checkpoint_time"


def written(at):
    return (0, EVER, "checkpoint_time") if at is None else known(at)


class Attempt:
    pass


class Process:
    """What a process was doing at any moment."""

    def __init__(self, run, number):
        self.run = run
        facts = run.plan["processes"][number]
        role = next(one for one in run.plan["roles"] if one["name"] == facts["role"])
        ready = role.get("ready") or {}
        self.waits_for_ready = ready.get("kind", "started") not in ("started", "done")
        host = run.number_of[facts["host"]]
        self.attempts, self.limits = [], []
        self.restarts = []
        stands = host
        for record in run.records:
            event = record["event"]
            if event == "host_replaced" and not record["error"] and record["host"] == host:
                stands = record["by"]
            if event == "limit_passed" and record["limit"].startswith("silent"):
                self.limits.append(record["at"])
            if event == "restart_planned" and number in record["processes"]:
                self.restarts.append(record)
            if event == "output_seen" and number in record["processes"] and self.attempts:
                self.look(record["at"], record["bytes"][record["processes"].index(number)])
            if record.get("process") != number:
                if event == "agent_lost" and self.attempts and self.attempts[-1].machine == record["host"]:
                    if self.attempts[-1].end is None:
                        self.end(record["at"], False)
                        self.attempts[-1].unheard = record.get("unheard_ms", 0) * 1_000_000
                continue
            if event == "start_ordered":
                if self.attempts and self.attempts[-1].end is None:
                    self.end(record["at"], False)
                one = Attempt()
                one.machine, one.ordered, one.seq = stands, record["at"], record["seq"]
                one.started = one.ready = one.end = one.look = None
                one.done, one.silences, one.unheard = False, [], 0
                self.attempts.append(one)
            elif event == "process_started":
                self.attempts[-1].started = self.at(record)
            elif event == "process_ready":
                self.attempts[-1].ready = self.at(record)
            elif event == "process_exited":
                self.end(self.at(record), not record["signalled"] and record["code"] == 0)
            elif event == "spawn_failed":
                self.end(record["at"], False)
        if self.attempts and self.attempts[-1].end is None:
            self.end(run.end, False)
        self.settle()

    def at(self, record):
        offset = self.run.clocks.get(self.attempts[-1].machine)
        return record["at"] if offset is None else record["on"] + offset

    def end(self, at, done):
        one = self.attempts[-1]
        if one.look:
            one.silences.append((one.look[0], at + 1))  # unbroken at its end
            one.look = None
        one.end, one.done = at, done

    def look(self, at, size):
        one = self.attempts[-1]
        if one.look and one.look[1] == size:
            return
        if one.look:
            one.silences.append((one.look[0], at))
        one.look = (at, size)

    def settle(self):
        """The moments of attempts in order, and how far the work of each is kept."""
        run = self.run
        self.steps = self.preparation()
        at = self.steps[-1][0]
        for index, one in enumerate(self.attempts):
            one.before = at
            one.ordered = max(one.ordered, at)
            one.end = min(max(one.end, one.ordered), run.end)
            one.started = one.end if one.started is None else min(max(one.started, one.ordered), one.end)
            if not self.waits_for_ready:
                one.ready = one.started
            else:
                one.ready = one.end if one.ready is None else min(max(one.ready, one.started), one.end)
            at = one.end

    def cut(self, index):
        cut = self.run.fate()
        for later in self.attempts[index + 1:]:
            in_force = [(one, None if one.get("age_ms", -1) < 0 else self.run.wall(one["at"]) - one.get("age_ms", -1) * 1_000_000)
                        for one in self.run.of("checkpoint_seen") if one["seq"] < later.seq]
            other = written(in_force[-1][1]) if in_force else known(0)
            cut = (min(cut[0], other[0]), min(cut[1], other[1]), cut[2] if cut[0] < cut[1] else other[2])
        return cut

    def preparation(self):
        """(end, row) of each step before the first process."""
        run = self.run
        hosts = set(range(len(run.plan["hosts"])))
        placed = {one["host"]: one["at"] for one in run.of("agent_connected") if one["host"] in hosts}
        if set(placed) != hosts:
            return [(run.end, "starting_place")]
        steps = [(max(placed.values()), "starting_place")]
        for events, row in ((("hosts_compared", "paths_compared"), "starting_inspect"),
                            (("code_shipped", "host_activated"), "starting_ship")):
            steps += [(one[-1]["at"], row) for one in [run.of(*events)] if one]
        awaited, bound = run.of("devices_awaited"), run.of("plan_bound")
        if awaited:
            steps.append((awaited[0]["at"], "starting_start"))
            steps.append((bound[0]["at"] if bound else run.end, "waiting_for_devices"))
        ordered = []
        for end, row in steps:
            ordered.append((max([end] + [one for one, _ in ordered]), row))
        return ordered

    def moments(self):
        run = self.run
        found = {end for end, _ in self.steps} | {run.over()} | set(run.stop_with_checkpoint())
        for start, end, _ in run.writes:
            found |= {start, end}
        for restart in self.restarts:
            found |= {restart["at"]}
        for index, one in enumerate(self.attempts):
            found |= {one.ordered, one.started, one.ready, one.end, one.end - one.unheard}
            for moment in self.cut(index)[:2]:
                found.add(run.begin + moment - run.began)
            for silence in one.silences:
                found |= set(silence)
        return found | set(self.limits)

    def row(self, at):
        run = self.run
        if at >= run.over():
            return "failing_stopping"
        for restart in self.restarts:
            again = [one.ordered for one in self.attempts if one.seq > restart["seq"]]
            if restart["at"] <= at < min(again + [EVER]):
                return "failing_stopping"
        row = self.base(at)
        if row not in WORK:
            return row
        current = next(one for one in self.attempts if one.ordered <= at < one.end)
        for start, end in current.silences:
            if any(start <= at < found < end for found in self.limits):
                return "silent"
        if at >= current.end - current.unheard:
            return "silent"
        for start, end, written_row in run.writes:
            if start <= at < end:
                return written_row
        start, end = run.stop_with_checkpoint()
        return "checkpoint_stalls" if start <= at < end else row

    def base(self, at):
        for end, row in self.steps:
            if at < end:
                return row
        before = "starting_start"
        for index, one in enumerate(self.attempts):
            if at < one.ordered:
                return before
            if at < one.started:
                return "starting_start"
            if at < one.ready:
                return "starting_ready"
            if at < one.end:
                kept, maybe, why = self.cut(index)
                moment = self.run.wall(at)
                return "productive_kept" if moment < kept else why if moment < maybe else "productive_lost"
            before = "idle_devices" if one.done else "failing_stopping"
        return before


def trials_of(sweep):
    """Run directories of a sweep's attempts, with whether early stopping used the result; and (begin, end) of its heads."""
    begun, stopped, heads = {}, set(), []
    for record in read_lines(sweep / "journal.jsonl"):
        key = (record.get("trial"), record.get("attempt"))
        if record["event"] == "sweep_began":
            heads.append([wall(record["wall"])] * 2)
        heads[-1][1] = wall(record["wall"])
        if record["event"] == "attempt_began":
            begun[key] = sweep / "t" / record["id"][:2] / f"{record['id']}.{record['attempt']}"
        if record["event"] == "attempt_ended" and record["class"] == "stopped" and not record.get("interrupted"):
            stopped.add(key)
    return [(folder, key in stopped) for key, folder in begun.items()], heads


def idle_between(runs, heads):
    """Of devices that some trial used, the time in which no trial did."""
    used = collections.defaultdict(list)
    for run in runs:
        bound = run.of("plan_bound")
        for process in run.plan["processes"]:
            for device in process["devices"] if bound else []:
                host = bound[0]["hosts"][run.number_of[process["host"]]]
                used[(host["name"], host["devices"][device])].append((run.began, run.wall(run.end)))
    idle = 0
    for spans in used.values():
        for begin, end in heads:
            moments = sorted({begin, end} | {moment for span in spans for moment in span if begin < moment < end})
            idle += sum(b - a for a, b in zip(moments, moments[1:]) if not any(s <= a and b <= e for s, e in spans))
    return idle


def main():
    program, *words = sys.argv[1:]
    sweep = None
    if "--sweep" in words:
        at = words.index("--sweep")
        sweep = pathlib.Path(words[at + 1])
        del words[at:at + 2]
    split = words.index("--")
    words, folders = words[:split], words[split + 1:]
    runs = [Run(folder) for folder in folders]
    heads, in_sweep = [], []
    if sweep:
        trials, heads = trials_of(sweep)
        in_sweep = [Run(folder, used) for folder, used in trials if (folder / "journal.jsonl").exists()]
        runs += in_sweep
    by_id = {run.id: run for run in runs}
    for run in runs:
        if run.continued() in by_id:
            by_id[run.continued()].continued_by.append(run)
    in_job = [run for run in runs if run.job]
    for before, after in zip(in_job, in_job[1:]):
        after.queued = max(0, after.began - before.wall(before.end))

    sums = {True: collections.Counter(), False: collections.Counter()}
    for run in runs:
        has_devices, of_run = run.ledger()
        sums[has_devices].update(of_run)
    sums[True]["idle_devices"] += idle_between(in_sweep, heads)
    shown = subprocess.run([program, "report", "--ledger", "--json", *words], stdout=subprocess.PIPE, check=True,
                           env=dict(os.environ)).stdout
    shown = json.loads(shown, parse_float=decimal.Decimal)
    by_devices = any(one["devices"] for run in runs for one in run.plan["processes"])
    problems = []
    if shown["missing"]:
        problems.append(f"missing: {shown['missing']}")
    if shown["ledger"]["runs"] != len(runs) and len({run.ledger()[0] for run in runs}) == 1:
        problems.append(f"{shown['ledger']['runs']} runs, expected {len(runs)}")
    mine = sums[by_devices]
    for names, rows in ((ROWS, shown["ledger"]["rows"]), (UNKNOWN, shown["ledger"]["unknown"])):
        for name in names:
            theirs = int(rows[name] * NS)
            if theirs != mine[name]:
                problems.append(f"{name}: {theirs} ns, expected {mine[name]}")
    total = sum(rows for rows in shown["ledger"]["rows"].values())
    if total != shown["ledger"]["total"]:
        problems.append(f"the rows are {total} together, the total is {shown['ledger']['total']}")
    if int(shown["ledger"]["total"] * NS) != sum(mine.values()):
        problems.append(f"the total is {shown['ledger']['total']}, expected {sum(mine.values())} ns")
    for problem in problems:
        print(problem)
    print(" ".join(f"{name}={int(mine[name])}" for name in ROWS + UNKNOWN if mine[name]), file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
