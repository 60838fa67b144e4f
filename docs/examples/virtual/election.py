"""Five nodes elect a leader as Raft does (Ongaro and Ousterhout 2014, section 5.2): terms, votes and heartbeats over TCP.

Each node tells how many elections it began, and for how many seconds it knew a leader.
"""

import asyncio
import json
import random

NODES, PORT = 5, 7000
HEARTBEAT = 0.1  # s, between messages of a leader
PATIENCE = 0.3, 0.6  # s without a leader before a node stands for election: drawn anew each time
END = 60  # s


class Node:
    def __init__(self, number):
        self.number, self.others = number, [one for one in range(NODES) if one != number]
        self.term, self.voted_for, self.votes = 0, None, set()
        self.role, self.leader = "follower", None
        self.elections, self.led_s = 0, 0.0
        self.heard = asyncio.Event()
        self.outbox = {one: asyncio.Queue(maxsize=3) for one in self.others}

    # What is said. A peer that does not read fast enough loses the oldest messages.

    def send(self, to, what, **more):
        if self.outbox[to].full():
            self.outbox[to].get_nowait()
        self.outbox[to].put_nowait({"what": what, "term": self.term, "from": self.number, **more})

    async def speak(self, to):
        """Keeps a connection to a peer and writes what is for it."""
        while True:
            try:
                _, writer = await asyncio.open_connection(f"node-{to}", PORT)
                while True:
                    message = await self.outbox[to].get()
                    writer.write(json.dumps(message).encode() + b"\n")
                    await writer.drain()
            except OSError:
                await asyncio.sleep(HEARTBEAT)

    # What is heard.

    async def listen(self, reader, writer):
        while line := await reader.readline():
            self.hear(json.loads(line))
        writer.close()

    def hear(self, message):
        sender, term = message["from"], message["term"]
        if term > self.term:
            self.become("follower", term)
        if message["what"] == "vote for me":
            granted = term == self.term and self.voted_for in (None, sender)
            if granted:
                self.voted_for = sender
                self.heard.set()
            self.send(sender, "vote", granted=granted)
        elif term < self.term:
            pass  # of a term that is over
        elif message["what"] == "vote" and self.role == "candidate" and message["granted"]:
            self.votes.add(sender)
            if len(self.votes) > NODES // 2:
                self.become("leader", term)
        elif message["what"] == "heartbeat":
            self.become("follower", term, leader=sender)
            self.heard.set()

    # What a node is.

    def become(self, role, term, leader=None):
        if term > self.term:
            self.term, self.voted_for = term, None
        if role == "candidate":
            self.voted_for, self.votes, self.elections = self.number, {self.number}, self.elections + 1
        self.role = role
        self.leader = self.number if role == "leader" else leader

    async def live(self):
        while True:
            if self.role == "leader":
                for one in self.others:
                    self.send(one, "heartbeat")
                await asyncio.sleep(HEARTBEAT)
                continue
            self.heard.clear()
            try:
                await asyncio.wait_for(self.heard.wait(), random.uniform(*PATIENCE))
            except TimeoutError:
                if self.role != "leader":
                    self.become("candidate", self.term + 1)
                    for one in self.others:
                        self.send(one, "vote for me")

    async def watch(self):
        step = 0.05
        while True:
            await asyncio.sleep(step)
            self.led_s += step * (self.leader is not None)


async def node(name):
    self = Node(int(name.rpartition("-")[2]))
    server = await asyncio.start_server(self.listen, port=PORT)
    tasks = [asyncio.create_task(self.live()), asyncio.create_task(self.watch())]
    tasks += [asyncio.create_task(self.speak(one)) for one in self.others]
    await asyncio.sleep(END)
    for task in tasks:
        task.cancel()
    server.close()
    return {"elections": self.elections, "seconds_with_a_leader": round(self.led_s, 1), "term": self.term}
