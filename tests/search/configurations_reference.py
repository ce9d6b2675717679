#!/usr/bin/env python3
"""Draws the configurations of tests/golden/configurations.json anew and compares.

An implementation of its own, from the papers and the documentation: Philox4x32-10 (Salmon et al.,
"Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011), FNV-1a, Box and Muller (1958), exact
fractions for quantised forms; Sobol' points from the table of Joe and Kuo (2008) by Bratley and
Fox's recurrence, and Owen's nested scrambling. Standard library only.

    configurations_reference.py FILE           compares; status 1 and the first difference
    configurations_reference.py --write FILE   writes the configurations in the file anew
"""

import json
import math
import sys
from fractions import Fraction
from statistics import NormalDist

MASK32 = 0xFFFFFFFF


def philox(counter, key):
    """The ten rounds of Philox4x32: four words from four words of counter and two of key."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0 = 0xD2511F53 * c0
        p1 = 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK32, (p0 >> 32) ^ c3 ^ k1, p0 & MASK32
        k0 = (k0 + 0x9E3779B9) & MASK32
        k1 = (k1 + 0xBB67AE85) & MASK32
    return c0, c1, c2, c3


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


class Stream:
    """The numbers of one (seed, trial, redraw, name), as core/counter_random.h describes them."""

    def __init__(self, seed, trial, redraw, name):
        name_hash = fnv1a(name)
        seed &= 0xFFFFFFFFFFFFFFFF
        words = philox((name_hash & MASK32, name_hash >> 32, 0, 1), (seed & MASK32, seed >> 32))
        self.key = words[:2]
        self.trial, self.redraw, self.block, self.waiting = trial, redraw, 0, []

    def bits(self):
        if not self.waiting:
            w = philox((self.trial, self.redraw, self.block, 0), self.key)
            self.waiting = [w[0] | w[1] << 32, w[2] | w[3] << 32]
            self.block += 1
        return self.waiting.pop(0)

    def unit(self):
        return (self.bits() >> 11) / 2**53

    def below(self, bound):
        if bound == 1:
            return 0
        mask = (1 << (bound - 1).bit_length()) - 1
        while True:
            value = self.bits() & mask
            if value < bound:
                return value


def decimal(value):
    """The number that its shortest text says, exactly."""
    return Fraction(repr(value))


def rounded(value, low, high):
    return min(max(float("%.11e" % value), low), high)


def log_between(low, high, unit):
    return rounded(math.exp(math.log(low) + (math.log(high) - math.log(low)) * unit), low, high)


def normal(stream):
    radius = math.sqrt(-2 * math.log(1 - stream.unit()))
    return radius * math.cos(2 * math.pi * stream.unit())


def steps(low, high, q):
    return (decimal(high) - decimal(low)) // decimal(q) + 1


def draw(form, arguments, stream):
    if form == "choice":
        return arguments[stream.below(len(arguments))]
    a, b = arguments[0], arguments[1]
    if form == "uniform":
        unit = stream.unit()
        return rounded(a * (1 - unit) + b * unit, a, b)
    if form == "loguniform":
        return log_between(a, b, stream.unit())
    if form == "quniform":
        return float(decimal(a) + stream.below(steps(*arguments)) * decimal(arguments[2]))
    if form == "qloguniform":
        value = decimal(log_between(a, b, stream.unit()))
        k = (value - decimal(a)) / decimal(arguments[2]) + Fraction(1, 2)
        k = min(max(math.floor(k), 0), steps(*arguments) - 1)
        return float(decimal(a) + k * decimal(arguments[2]))
    if form == "randint":
        return a + stream.below(b - a)
    if form == "qrandint":
        return a + stream.below((b - a) // arguments[2] + 1) * arguments[2]
    if form == "lograndint":
        return min(max(math.floor(log_between(float(a), float(b), stream.unit())), a), b - 1)
    if form == "normal":
        return rounded(a + b * normal(stream), -math.inf, math.inf)
    if form == "lognormal":
        return rounded(math.exp(a + b * normal(stream)), 0, math.inf)
    raise ValueError(form)


def split(spec):
    """A parameter of the document as (form, arguments, conditions)."""
    if not isinstance(spec, dict):
        return "constant", spec, {}
    ((form, arguments),) = ((k, v) for k, v in spec.items() if k != "when")
    return form, arguments, spec.get("when", {})


def same(a, b):
    """Equality of JSON values with their types: 1, 1.0 and true are three values."""
    return json.dumps(a) == json.dumps(b)


# Joe and Kuo's table new-joe-kuo-6.21201 from dimension 2 on: degree, coefficients, initial m.
JOE_KUO = [
    (1, 0, [1]),
    (2, 1, [1, 3]),
    (3, 1, [1, 3, 1]),
    (3, 2, [1, 1, 1]),
    (4, 1, [1, 1, 3, 3]),
    (4, 4, [1, 3, 5, 13]),
    (5, 2, [1, 1, 5, 5, 17]),
    (5, 4, [1, 1, 5, 5, 5]),
    (5, 7, [1, 1, 7, 11, 19]),
    (5, 11, [1, 1, 5, 1, 1]),
    (5, 13, [1, 1, 1, 3, 11]),
    (5, 14, [1, 3, 5, 5, 31]),
    (6, 1, [1, 3, 3, 9, 7, 49]),
    (6, 13, [1, 1, 1, 15, 21, 21]),
    (6, 16, [1, 3, 1, 13, 27, 49]),
]


def sobol(index, dimension):
    """32 binary digits of a coordinate of point `index`, in Gray-code order."""
    if dimension == 0:
        m = [1] * 32
    else:
        degree, a, m = JOE_KUO[dimension - 1]
        m = list(m)
        while len(m) < 32:
            value = m[-degree] ^ (m[-degree] << degree)
            for i in range(1, degree):
                value ^= ((a >> (degree - 1 - i)) & 1) * (m[-i] << i)
            m.append(value)
    digits = 0
    for k in range(32):
        if (index ^ (index >> 1)) >> k & 1:
            digits ^= m[k] << (31 - k)
    return digits


def scrambled(digits, seed, number_of_set, name):
    """The numerator of the scrambled coordinate over 2^53."""
    result = 0
    for k in range(32):
        stream = Stream(seed, (1 << k) + (digits >> (32 - k)), number_of_set, name)
        digit = digits >> (31 - k) & 1
        result = result << 1 | (digit ^ stream.bits() >> 63)
    numbers = stream.bits(), stream.bits()
    return result << 21 | numbers[digit] >> 43


def quantile(numerator):
    """Of the standard normal distribution, at the middle of the cell."""
    if numerator >= 1 << 52:
        return -quantile((1 << 53) - 1 - numerator)
    return NormalDist().inv_cdf((numerator + 0.5) / 2**53)


def value_at(form, arguments, numerator):
    """The inverse of the form's distribution function."""
    unit = numerator / 2**53
    if form == "choice":
        return arguments[numerator * len(arguments) >> 53]
    a, b = arguments[0], arguments[1]
    if form == "quniform":
        k = numerator * steps(*arguments) >> 53
        return float(decimal(a) + k * decimal(arguments[2]))
    if form == "randint":
        return a + (numerator * (b - a) >> 53)
    if form == "qrandint":
        return a + (numerator * ((b - a) // arguments[2] + 1) >> 53) * arguments[2]
    if form == "normal":
        return rounded(a + b * quantile(numerator), -math.inf, math.inf)
    if form == "lognormal":
        return rounded(math.exp(a + b * quantile(numerator)), 0, math.inf)

    class Given:
        def unit(self):
            return unit

    return draw(form, arguments, Given())


def applies(when, values):
    return all(
        parent in values and any(same(values[parent], value) for value in wanted)
        for parent, wanted in when.items()
    )


def sobol_configuration(space, seed, trial, skipped):
    """The configuration of the trial's point, or of the one `skipped` points behind it."""
    drawn = sorted(name for name in space if split(space[name])[0] not in ("constant", "grid"))
    combinations = math.prod(len(v["grid"]) for v in space.values() if split(v)[0] == "grid")

    def text_of(name, form, arguments):
        digits = sobol(trial // combinations + skipped, drawn.index(name))
        numerator = scrambled(digits, seed, trial % combinations, "rung.sobol." + name)
        return value_at(form, arguments, numerator)

    return fill(space, trial, text_of)


def configuration(space, seed, trial, redraw):
    return fill(
        space,
        trial,
        lambda name, form, arguments: draw(form, arguments, Stream(seed, trial, redraw, name)),
    )


def fill(space, trial, text_of):
    grids = {}
    rest = trial
    for name in reversed(space):
        form, arguments, _ = split(space[name])
        if form == "grid":
            grids[name] = arguments[rest % len(arguments)]
            rest //= len(arguments)
    values = {}
    for name, spec in space.items():
        form, arguments, when = split(spec)
        if not applies(when, values):
            continue
        if form == "constant":
            values[name] = arguments
        elif form == "grid":
            values[name] = grids[name]
        else:
            values[name] = text_of(name, form, arguments)
    return values


def configurations(case):
    """As many as the case asks for; in a finite space no configuration twice."""
    made, used = [], set()
    for trial in range(case["trials"]):
        for redraw in range(1000 if case["finite"] else 1):
            of = sobol_configuration if case.get("searcher") == "sobol" else configuration
            values = of(case["space"], case["seed"], trial, redraw)
            text = json.dumps(values)
            if not case["finite"] or text not in used:
                used.add(text)
                made.append(values)
                break
        else:
            return made
    return made


def write(path, document):
    """One parameter and one configuration a line, for readable differences."""
    cases = []
    for case in document["cases"]:
        head = {k: v for k, v in case.items() if k not in ("space", "configurations")}
        space = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in case["space"].items()]
        made = ["  " + json.dumps(values) for values in configurations(case)]
        cases.append(
            "{" + json.dumps(head)[1:-1] + ",\n"
            ' "space": {\n' + ",\n".join(space) + "},\n"
            ' "configurations": [\n' + ",\n".join(made) + "]}"
        )
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"cases": [\n' + ",\n".join(cases) + "\n]}\n")


def main(arguments):
    path = arguments[-1]
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if "--write" in arguments:
        write(path, document)
        return 0
    for case in document["cases"]:
        made, kept = configurations(case), case["configurations"]
        if len(made) != len(kept):
            print(f"{case['name']}: {len(made)} configurations, the file has {len(kept)}")
            return 1
        for trial, (ours, golden) in enumerate(zip(made, kept)):
            if not same(ours, golden):
                print(f"{case['name']}, trial {trial}:")
                print(f"{json.dumps(ours)}, the file has\n{json.dumps(golden)}")
                return 1
        print(f"{case['name']}: {len(kept)} configurations agree")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
