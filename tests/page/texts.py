# SPDX-License-Identifier: Apache-2.0
"""Every text of the page stands in texts.js: all keys that modules ask for are there, none is left over, and no module
has a sentence of its own. Modules import what is there; nothing that a strict content policy refuses is used."""
import os
import re
import sys

PAGE = os.path.join(os.environ.get("SKITTER_TEST_SOURCE", "."), "src", "server", "page")
bad = []
files = {name: open(os.path.join(PAGE, name), encoding="utf-8").read() for name in sorted(os.listdir(PAGE))}
modules = {name: text for name, text in files.items() if name.endswith(".js")}

table = modules["texts.js"]
keys = re.findall(r"^    (?:'([^']+)'|(\w+)): '", table, re.M)
keys = [a or b for a, b in keys]
bad += [f"texts.js: {k} twice" for k in set(keys) if keys.count(k) > 1]
used, patterns = set(), []
for name, text in modules.items():
    if name == "texts.js":
        continue
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    used |= set(re.findall(r"(?<![\w.])t\('([^']+)'", text))
    patterns += [re.escape(p) for p in re.findall(r"(?<![\w.])t\(`([^`]+)`", text)]
patterns = [re.sub(r"\\\$\\\{.*?\\\}", r"[\\w-]+", p) for p in patterns]
bad += [f"no text for {k}" for k in sorted(used - set(keys))]
bad += [f"texts.js: nobody asks for {k}" for k in keys if k not in used and not any(re.fullmatch(p, k) for p in patterns)]

for name, text in modules.items():
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for found in re.findall(r"import \{([^}]*)\} from '\./([\w.]+)'", bare):
        if found[1] not in files:
            bad.append(f"{name} imports {found[1]}, which is not there")
            continue
        for what in (w.strip() for w in found[0].split(",")):
            if not re.search(rf"export (?:async )?(?:function|const|class|let) {what}\b", modules[found[1]]):
                bad.append(f"{name}: {found[1]} has no {what}")
            if len(re.findall(rf"\b{what}\b", bare)) < 2:
                bad.append(f"{name}: {what} is imported and not used")
    if name not in ("texts.js", "draw.js", "regions.js", "plots.js", "style.css"):
        for literal in re.findall(r"'((?:[^'\\\n]|\\.)*)'", re.sub(r"class: (?:\w+ \? )?'[^']*'", "", bare)):
            if re.search(r"[A-Z][a-z]+ [a-z]+|[a-z]{3,} [a-z]{3,} [a-z]{3,}", literal) and not re.search(r"[\[#.>]", literal) and not literal.startswith(("M", "stack", "row")):
                bad.append(f"{name}: a text outside of texts.js: {literal}")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "setAttribute('style'", "https://", "javascript:"):
        if word in bare:
            bad.append(f"{name}: {word}")

for name, text in files.items():
    if "SPDX-License-Identifier: Apache-2.0" not in text and name.endswith((".js", ".css")):
        bad.append(f"{name}: no SPDX line")
    if text.count("\n") > 620:
        bad.append(f"{name}: more than 620 lines is two files")
# what the first view needs is fetched at once, not as its modules are read one after the other
needed = []


def need(name):
    if name not in needed:
        needed.append(name)
        for other in re.findall(r"^import .*? from '\./([\w.]+)'", modules[name], re.M):
            need(other)


need("main.js")
markup = files["index.html"]
preloaded = re.findall(r'rel="modulepreload" href="([\w.]+)"', markup)
if sorted(preloaded + ["main.js"]) != sorted(needed):
    bad.append(f"index.html preloads others than main.js needs: {sorted(set(preloaded + ['main.js']) ^ set(needed))}")
if re.search(r"<style|style=|\son\w+=|<script(?![^>]*src=)", markup):
    bad.append("index.html: what the content policy refuses")
print("\n".join(bad) or f"{len(keys)} texts, {len(modules)} modules")
sys.exit(bool(bad))
