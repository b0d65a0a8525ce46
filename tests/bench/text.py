#!/usr/bin/env python3
"""The table `text`: tokenizing and learning to, beside PyPI's tiktoken and tokenizers. Run by `./dev bench text`.

Each contestant is a process of its own; they take turns in rounds, and ratios are medians of each round's ratio.
`text.py --worker NAME ...` is the process of a rival.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def printable_bytes():
    """What GPT-2's files write for each byte."""
    table, extra = {}, 0
    for byte in range(256):
        itself = 0x21 <= byte <= 0x7E or (byte >= 0xA1 and byte != 0xAD)
        table[chr(byte if itself else 0x100 + extra)] = byte
        extra += not itself
    return table


# ---- the rivals' processes


def tiktoken_actions(vocab, merges):
    import tiktoken
    table = printable_bytes()
    special = "<|endoftext|>"
    with open(vocab, encoding="utf-8") as file:
        ranks = {bytes(table[c] for c in token): id_ for token, id_ in json.load(file).items() if token != special}
    encoding = tiktoken.Encoding("gpt2", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={special: 50256})
    # The pattern as tiktoken has it is faster than GPT-2's own; its ids are the same.
    encoding = tiktoken.Encoding("gpt2", pat_str=r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
                                 mergeable_ranks=ranks, special_tokens={special: 50256})
    core = encoding._core_bpe
    allowed = {special}
    return {"encode": lambda text, _: core.encode(text, allowed),
            "decode": lambda _, ids: core.decode_bytes(ids)}


def tokenizers_actions(vocab, merges, threads):
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    def make(model):
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        return tokenizer

    gpt2 = make(models.BPE.from_file(vocab, merges))
    gpt2.add_special_tokens(["<|endoftext|>"])

    def train(file, vocab_size):
        tokenizer = make(models.BPE())
        tokenizer.train([file], trainers.BpeTrainer(vocab_size=vocab_size, special_tokens=["<|endoftext|>"], show_progress=False,
                                                    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
        return range(tokenizer.get_vocab_size())

    return {"encode": lambda text, _: gpt2.encode(text).ids,
            "decode": lambda _, ids: gpt2.decode(ids, skip_special_tokens=False).encode(),
            "train": train}


def worker(name, vocab, merges, threads):
    actions = tiktoken_actions(vocab, merges) if name == "tiktoken" else tokenizers_actions(vocab, merges, threads)
    texts, known = {}, {}
    for line in sys.stdin:
        action, _, seconds, file = line.split()
        if file not in texts:
            with open(file, encoding="utf-8", newline="") as opened:
                texts[file] = opened.read()
        if action == "decode" and file not in known:
            known[file] = actions["encode"](texts[file], None)
        best, total = float("inf"), 0.0
        while total < float(seconds) or total == 0:
            begin = time.perf_counter()
            if action.startswith("train:"):
                result = actions["train"](file, int(action[6:]))
            else:
                result = actions[action](texts[file], known.get(file))
            took = time.perf_counter() - begin
            best, total = min(best, took), total + took
        print(json.dumps({"seconds": best, "sum": sum(result) if action == "encode" else len(result)}), flush=True)


# ---- the table


class Process:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def turn(self, action, threads, seconds, file):
        self.process.stdin.write(f"{action} {threads} {seconds} {file}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"error: {self.process.args[0]} stopped in {action} of {file}")
        return json.loads(line)


def rounds_of(options, contestants, action, file, check=True):
    """contestants: {name: (process, threads)}; the seconds of each, round by round."""
    seconds = {name: [] for name in contestants}
    names = list(contestants)
    for round_ in range(2 if options.quick else 7):
        sums = set()
        for name in names[round_ % len(names):] + names[:round_ % len(names)]:
            process, threads = contestants[name]
            answer = process.turn(action, threads, 0.01 if options.quick else 0.1, file)
            seconds[name].append(answer["seconds"])
            sums.add(answer["sum"])
        if check and len(sums) > 1:
            raise SystemExit(f"error: the results of {action} differ for {file}: {sums}")
    return seconds


def ratio(seconds, other, own):
    return statistics.median(a / b for a, b in zip(seconds[other], seconds[own]))


def target(what, value, least):
    print(f"target  {what}: {value:.2f} (at least {least}): {'met' if value >= least else 'NOT MET'}")


def busy():
    """CPU seconds that all processes have used, and this one's children."""
    with open("/proc/stat", encoding="ascii") as stat:
        fields = list(map(int, stat.readline().split()[1:9]))
    return (fields[0] + fields[1] + fields[2]) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench text", description=__doc__.splitlines()[0])
    parser.add_argument("--gpt2", required=True, metavar="FOLDER", help="folder with gpt2_vocab.json and gpt2_merges.txt, or vocab.json and merges.txt")
    parser.add_argument("--text", action="append", default=[], metavar="FILE", help="a text to encode and decode (default: the King James Bible)")
    parser.add_argument("--train", metavar="FILE", help="a text to learn 10000 tokens from (default: the first text)")
    parser.add_argument("--small", metavar="FILE", help="a text to learn 500 tokens from in under 0.2 s")
    parser.add_argument("--json", metavar="FILE", help="rows as JSON, one a line")
    parser.add_argument("--quick", action="store_true", help="two short rounds: whether it runs, not how fast")
    options = parser.parse_args()
    files = [os.path.join(options.gpt2, name) for name in ("gpt2_vocab.json", "gpt2_merges.txt")]
    if not os.path.exists(files[0]):
        files = [os.path.join(options.gpt2, name) for name in ("vocab.json", "merges.txt")]
    for file in files + options.text:
        if not os.path.exists(file):
            raise SystemExit(f"error: there is no file {file}")
    python = os.path.join(ROOT, "build", "bench_text_venv", "bin", "python")
    rival = [python, os.path.abspath(__file__), "--worker"]
    ours = Process(os.path.join(ROOT, "build", "tests", "runtime", "burin_text_bench"), *files)
    tiktoken = Process(*rival, "tiktoken", *files, "1")
    hf = {threads: Process(*rival, "tokenizers", *files, str(threads)) for threads in (1, 2)}
    rows = []
    before, start, load = busy(), time.perf_counter(), os.getloadavg()[0]
    worst = {"encode": [], "decode": []}
    doubling = []
    print(f"{'action':<9}{'text':<30}{'MB/s':>8}   time of the others over ours, one thread")
    for file in options.text:
        name, size = os.path.basename(file), os.path.getsize(file)
        for action in ("encode", "decode"):
            seconds = rounds_of(options, {"burin": (ours, 1), "tiktoken": (tiktoken, 1), "tokenizers": (hf[1], 1)}, action, file)
            ratios = {other: ratio(seconds, other, "burin") for other in ("tiktoken", "tokenizers")}
            worst[action].append(ratios["tiktoken"])
            rows.append({"table": "text", "action": action, "text": name, "threads": 1, "seconds": statistics.median(seconds["burin"]), "ratios": ratios})
            print(f"{action:<9}{name:<30}{size / 1e6 / rows[-1]['seconds']:>8.0f}   tiktoken {ratios['tiktoken']:.2f}  tokenizers {ratios['tokenizers']:.2f}")
        seconds = rounds_of(options, {"one": (ours, 1), "two": (ours, 2)}, "encode", file)
        doubling.append(ratio(seconds, "one", "two"))
        rows.append({"table": "text", "action": "encode", "text": name, "threads": 2, "seconds": statistics.median(seconds["two"]), "ratios": {"one thread": doubling[-1]}})
        print(f"{'encode':<9}{name:<30}{size / 1e6 / rows[-1]['seconds']:>8.0f}   one thread over two {doubling[-1]:.2f}")
    training = {}
    text = options.train or options.text[0]
    for threads in (1, 2):
        seconds = rounds_of(options, {"burin": (ours, threads), "tokenizers": (hf[threads], threads)}, "train:10000", text)
        training[threads] = ratio(seconds, "tokenizers", "burin")
        rows.append({"table": "text", "action": "train", "text": os.path.basename(text), "threads": threads, "seconds": statistics.median(seconds["burin"]),
                     "ratios": {"tokenizers": training[threads]}})
        print(f"train, 10000 tokens, {os.path.basename(text)}, {threads} thread(s): {rows[-1]['seconds']:.3f} s; tokenizers {training[threads]:.2f}")
    for action in ("encode", "decode"):
        target(f"{action}, tiktoken's time over ours, least of {len(worst[action])} texts", min(worst[action]), 2.0)
    target("encode, one thread over two, largest text", doubling[max(range(len(options.text)), key=lambda i: os.path.getsize(options.text[i]))], 1.8)
    for threads, value in training.items():
        target(f"training, tokenizers' time over ours, {threads} thread(s)", value, 2.0)
    if options.small:
        seconds = statistics.median(rounds_of(options, {"burin": (ours, 1)}, "train:500", options.small)["burin"])
        print(f"target  training 500 tokens from {os.path.basename(options.small)}: {seconds:.3f} s (at most 0.2): {'met' if seconds <= 0.2 else 'NOT MET'}")
    all_busy = (busy() - before) / (time.perf_counter() - start)
    if max(load, all_busy - 1.2) > 0.5:
        print(f"warning: other processes were busy (load {load:.1f} before, {all_busy:.1f} CPUs in use meanwhile); figures for two threads mean little")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        main()
