# Part of Eider, under the Apache License v2.0.
"""Times a call beside a memcpy of the same bytes, by the method of bench/measure/ (bench/README.md)."""
import statistics

import torch

ROUND_BYTES = 1 << 29
WARM_UP_ROUNDS = 2


def microseconds(enqueue):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    enqueue()
    end.record()
    end.synchronize()
    return 1000.0 * start.elapsed_time(end)


def replayed(enqueue):
    """The same work as one CUDA graph."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # Outputs of all launches live until the end, so that none is written to memory that is warm from another.
        graph.outputs = enqueue()
    return graph.replay


def bytes_to_copy(traffic):
    """Half of it, up to whole pieces: a memcpy of others is up to 1.6 times as slow."""
    half = traffic // 2
    piece = 512 if half < 1 << 20 else 4096
    return -(-half // piece) * piece


class Meter:
    def __init__(self, rounds=30):
        self.rounds = rounds
        properties = torch.cuda.get_device_properties(0)
        self.l2 = properties.L2_cache_size
        self.sweep_from = torch.randn(2 * self.l2 // 4, device="cuda")
        self.sweep_to = torch.empty_like(self.sweep_from)

    def launches_for(self, traffic):
        return min(max(ROUND_BYTES // max(traffic, 1), 5), 100)

    def sweeps_by_itself(self, traffic):
        return traffic > 5 * self.l2

    def copies_for(self, traffic):
        """How many sets of tensors a cold measurement wants: what is larger than the cache sweeps it by itself."""
        return 1 if self.sweeps_by_itself(traffic) else self.launches_for(traffic)

    def round(self, enqueue, launches, is_swept):
        # Either keeps the GPU busy while the first launch is on its way to it.
        if is_swept:
            self.sweep_to.copy_(self.sweep_from)
        else:
            enqueue()
        return microseconds(enqueue) / launches

    def time(self, calls, sets, traffic, cold):
        """(us of each call, us of the memcpy, spread of the first): medians over rounds in which they take turns. Calls
        take one of `sets`, which are copies_for(traffic)."""
        launches = self.launches_for(traffic)
        # A copy would leave lines that are to be written: a round of its own sweeps, where all of it is enough.
        is_swept = cold and not self.sweeps_by_itself(launches * traffic)
        source = torch.randn(len(sets), bytes_to_copy(traffic) // 4, device="cuda")
        target = torch.empty_like(source)

        def which(i):
            return i % len(sets) if cold else 0

        def launched(call):
            return lambda: [call(*sets[which(i)]) for i in range(launches)]

        def memcpy():
            for i in range(launches):
                target[which(i)].copy_(source[which(i)])

        for call in calls:
            self.round(launched(call), launches, is_swept)  # the first launch's own costs
        # Launches from Python may take longer than the work, even than 100 us of it.
        graphs = [replayed(launched(call)) for call in calls] + [replayed(memcpy)]
        times = [[] for _ in graphs]
        for i in range(-WARM_UP_ROUNDS, self.rounds):
            for own, graph in zip(times, graphs):
                microseconds_of_round = self.round(graph, launches, is_swept)
                if i >= 0:
                    own.append(microseconds_of_round)
        *medians, copies = map(statistics.median, times)
        first, _, third = statistics.quantiles(times[0], n=4)
        return medians, copies, (third - first) / medians[0]
