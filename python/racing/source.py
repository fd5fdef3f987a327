"""What a kernel's text says: its parameters, its constants."""
import re


def plain(text, macros):
    """A text without comments, and without what is under an #ifdef of a macro that is not set. Of another #if, both branches."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S).replace("\\\n", "\n")
    lines, shown, known = [], [True], [True]
    for line in text.split("\n"):
        word = line.split()
        if word[:1] == ["#ifdef"] or word[:1] == ["#ifndef"]:
            shown.append((word[1] in macros) == (word[0] == "#ifdef"))
            known.append(True)
        elif word and word[0] == "#if":
            shown.append(True)
            known.append(False)
        elif word[:1] == ["#else"]:
            shown[-1] ^= known[-1]
        elif word[:1] == ["#endif"]:
            shown.pop(), known.pop()
        elif all(shown):
            lines.append(line)
    return "\n".join(lines)


def kind(parameter):
    if "CUtensorMap" in parameter:
        return "map"
    if "*" in parameter:
        return "pointer"
    if "long long" in parameter:
        return "long"
    return "float" if re.search(r"\bfloat\b", parameter) else "int"


def parameters(text, name, macros=()):
    """The kinds of a kernel's parameters: pointer, map, int, long or float. A kernel that a macro makes is found by the macro's text.
    None where there is no such kernel."""
    text = plain(text, macros)
    made = re.search(rf"^\s*([A-Z]+)\({name},", text, re.M)
    word = "NAME" if made else name
    if made:
        text = text[text.index(f"#define {made[1]}(NAME"):]
    found = re.search(rf"\b(?:__global__)\b[^;{{}}]*?\b{word}\s*\(", text)
    if not found:
        return None
    end, depth = found.end(), 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return [kind(p) for p in text[found.end():end - 1].split(",")]


def constant(text, name):
    """The number that a constant of the file has; 0 if there is none."""
    found = re.search(rf"\b{name} = (\d+)", text)
    return int(found[1]) if found else 0


def changed(text, constants, file="the file"):
    """The text with other values of its constants."""
    for name, value in constants.items():
        text, n = re.subn(rf"\b{name} = [^,;]+", f"{name} = {value}", text, count=1)
        if n != 1:
            raise SystemExit(f"{file} has no constant {name}")
    return text
