"""A stand-in for MindSpore's cluster: a program that is scheduler, server or worker, as its environment says.

Follows MindSpore 2.7's rules for reading the environment, registering nodes and assigning ranks, and refuses
violations. Trains nothing: a process that has its rank prints it and exits; the scheduler exits last. The rules, in
order: there are four names of roles; counts are whole numbers and equal in all processes; the scheduler's host is an
address, never a name; node ids have at most 100 characters and are unique over all roles; if all ids are numbers
they are the ranks, otherwise nodes are sorted by address and then by id.
"""

import ipaddress
import json
import os
import socket
import sys
import time
import uuid

ROLES = {"MS_SCHED": "scheduler", "MS_WORKER": "worker", "MS_PSERVER": "server", "MS_SERVER": "server"}


class Refused(Exception):
    """An environment or a member that MindSpore would refuse."""


def variable(name, default=None):
    value = os.environ.get(name, "")  # an empty variable counts as unset
    if value:
        return value
    if default is None:
        raise Refused(f"{name} is not set")
    return default


def number(name, least, most=2**31 - 1, default=None):
    text = variable(name, default)
    if not text.lstrip("-").isdigit() or not least <= int(text) <= most:
        raise Refused(f"{name} is {text!r}, and a whole number from {least} to {most} is wanted")
    return int(text)


def address(name, default=None):
    text = variable(name, default)
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise Refused(f"{name} is {text!r}, which is no address") from None
    return text


class Node:
    """The properties of a process before it connects to others."""

    def __init__(self):
        if not os.environ.get("MS_ROLE") and not os.environ.get("MS_SCHED_HOST"):
            raise Refused("neither MS_ROLE nor MS_SCHED_HOST is set: MindSpore would not start a cluster at all")
        word = os.environ.get("MS_ROLE", "")
        if word not in ROLES:
            raise Refused(f"Role name {word!r} is invalid")
        self.role = ROLES[word]
        self.workers = number("MS_WORKER_NUM", 1)
        self.servers = number("MS_SERVER_NUM", 0, default="0")
        self.host = address("MS_SCHED_HOST")
        self.port = number("MS_SCHED_PORT", 1, 65535)
        self.patience = number("MS_TOPO_TIMEOUT", -1, default="1800")
        self.id = variable("MS_NODE_ID", str(uuid.uuid4()))
        if len(self.id) > 100:
            raise Refused("MS_NODE_ID has more than 100 characters")
        self.own_address = address("MS_WORKER_IP", "127.0.0.1")

    def registration(self):
        return {"role": self.role, "id": self.id, "workers": self.workers, "servers": self.servers,
                "address": self.own_address}


def send(stream, message):
    stream.write(json.dumps(message) + "\n")
    stream.flush()


class Scheduler:
    def __init__(self, node):
        self.node = node
        self.wanted = {"worker": node.workers, "server": node.servers}
        self.members = {"worker": {}, "server": {}}  # by id
        self.streams = []

    def check(self, member):
        if (member["workers"], member["servers"]) != (self.node.workers, self.node.servers):
            raise Refused(f"node {member['id']} counts {member['workers']} workers and {member['servers']} servers, the "
                          f"scheduler {self.node.workers} and {self.node.servers}")
        for members in self.members.values():
            if member["id"] in members:
                raise Refused(f"node {member['id']} registers again")
        if len(self.members[member["role"]]) == self.wanted[member["role"]]:
            raise Refused(f"node {member['id']} is extra: there are {self.wanted[member['role']]} of its role already")
        if member["id"].isdigit() and int(member["id"]) >= self.wanted[member["role"]]:
            raise Refused(f"node {member['id']} is extra or its rank id exceeds {self.wanted[member['role']] - 1}")

    def gather(self, listener):
        while sum(map(len, self.members.values())) < sum(self.wanted.values()):
            connection, _ = listener.accept()
            stream = connection.makefile("rw")
            member = json.loads(stream.readline())
            try:
                self.check(member)
            except Refused as refused:
                send(stream, {"refused": str(refused)})
                raise
            self.members[member["role"]][member["id"]] = stream, member
            self.streams.append(stream)

    def ranks(self, role):
        ids = list(self.members[role])
        if all(identity.isdigit() for identity in ids):
            return {identity: int(identity) for identity in ids}
        ordered = sorted(ids, key=lambda identity: (
            int(ipaddress.ip_address(self.members[role][identity][1]["address"])), identity))
        return {identity: rank for rank, identity in enumerate(ordered)}

    def run(self):
        listener = socket.create_server((self.node.host, self.node.port))
        if self.node.patience >= 0:
            listener.settimeout(self.node.patience)
        self.gather(listener)
        for role in self.members:
            for identity, rank in self.ranks(role).items():
                send(self.members[role][identity][0], {"rank": rank})
        print("Cluster is successfully initialized", flush=True)
        for stream in self.streams:
            stream.readline()  # waits for the last message or the end of the connection


def connect(node):
    # Members may start before the scheduler. A remote port that opens cannot be waited for, so they retry, as
    # MindSpore's own processes do.
    while True:
        try:
            return socket.create_connection((node.host, node.port))
        except ConnectionRefusedError:
            time.sleep(0.02)


def serve(node):
    stream = connect(node).makefile("rw")
    send(stream, node.registration())
    answer = json.loads(stream.readline() or '{"refused": "the scheduler is gone"}')
    if "refused" in answer:
        raise Refused(answer["refused"])
    told = os.environ.get("RANK_ID", "")
    if node.role == "worker" and told and int(told) != answer["rank"]:
        raise Refused(f"RANK_ID is {told}, and the rank {answer['rank']}")
    print(f"This node {node.id} rank id: {answer['rank']}", flush=True)
    send(stream, {"goodbye": True})


def main():
    try:
        node = Node()
        Scheduler(node).run() if node.role == "scheduler" else serve(node)
    except Refused as refused:
        sys.exit(f"refused: {refused}")


if __name__ == "__main__":
    main()
