"""The page in a real browser: headless Chromium, named by CHROMIUM or found on PATH."""

import html
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from support import InFolder, child, needs_jit
from test_report import PROGRAM

NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
#: A script added to the page that runs a query; the answer is an attribute of its body.
ASK = """<script>addEventListener("load", () => {
const answer = {};
%s
document.body.dataset.answer = JSON.stringify(answer);
});</script></body>"""


@needs_jit
@unittest.skipUnless(BROWSER, f"there is no browser: none of {', '.join(NAMES)} is on PATH, and CHROMIUM is not set")
class InBrowser(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        path = os.path.join(folder.name, "program.py")
        with open(path, "w") as out:
            import textwrap

            out.write(textwrap.dedent(PROGRAM))
        child("-m", "cladonia", "--report", "out.html", "program.py", cwd=folder.name)
        with open(os.path.join(folder.name, "out.html")) as page:
            cls.text = page.read()

    def browse(self, *options, text=None, width=1280, height=900):
        page = self.write("page.html", "")
        page.write_text(text or self.text)
        words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={self.folder}/profile",
                 f"--window-size={width},{height}", *options, page.as_uri()]
        return subprocess.run(words, capture_output=True, text=True, timeout=120)

    def ask(self, script, **how):
        """The result of a script in the page."""
        self.assertIn("</body>", self.text)
        shown = self.browse("--dump-dom", text=self.text.replace("</body>", ASK % script), **how).stdout
        found = re.search(r'data-answer="([^"]*)"', shown)
        self.assertIsNotNone(found, shown[:500])
        return json.loads(html.unescape(found[1]))

    def test_the_table_sorts(self):
        answer = self.ask("""
            const head = name => [...document.querySelectorAll("#table thead button")].find(b => b.textContent === name);
            const column = key => [...document.querySelectorAll("#table tbody tr")].map(row => +row.dataset[key]);
            answer.time = column("time");
            head("calls").click();
            answer.calls = column("calls");
            head("calls").click();
            answer.again = column("calls");
            answer.sorted = head("calls").parentElement.getAttribute("aria-sort");
            """)
        self.assertEqual(answer["time"], sorted(answer["time"], reverse=True))
        self.assertEqual(answer["calls"], sorted(answer["calls"], reverse=True))
        self.assertEqual(answer["again"], sorted(answer["calls"]))
        self.assertEqual(answer["sorted"], "ascending")

    def test_the_flame_graph_zooms(self):
        answer = self.ask("""
            const frames = [...document.querySelectorAll("#flame g")];
            const wide = () => frames.map(f => f.style.display === "none" ? 0 : f.querySelector("rect").getBoundingClientRect().width);
            const narrow = frames.findIndex(f => f.dataset.w > 20 && f.dataset.w < 900);
            answer.before = wide()[narrow];
            frames[narrow].dispatchEvent(new MouseEvent("click", {bubbles: true}));
            answer.zoomed = wide()[narrow];
            frames[0].dispatchEvent(new MouseEvent("click", {bubbles: true}));
            answer.after = wide()[narrow];
            """)
        self.assertGreater(answer["zoomed"], answer["before"])
        self.assertAlmostEqual(answer["zoomed"], 1199.5, delta=1)
        self.assertAlmostEqual(answer["after"], answer["before"], delta=1)

    def test_a_filter_and_a_link_to_a_function_work(self):
        answer = self.ask("""
            const filter = document.getElementById("filter");
            filter.value = "SCALE";
            filter.dispatchEvent(new Event("input"));
            answer.shown = [...document.querySelectorAll("#table tbody tr")].filter(row => !row.hidden).map(row => row.cells[0].textContent);
            const link = document.querySelector("#table a");
            location.hash = link.hash;
            dispatchEvent(new HashChangeEvent("hashchange"));
            answer.open = document.querySelector(link.hash).open;
            """)
        self.assertTrue(answer["shown"])
        self.assertTrue(all("scale" in name.lower() for name in answer["shown"]))
        self.assertTrue(answer["open"])

    def test_nothing_sticks_out_on_a_phone(self):
        # The window of a headless browser is not narrower than 500 pixels, so the page is put into
        # a frame.
        page = self.text.replace("</body>", ASK % "answer.wide = document.documentElement.scrollWidth; answer.window = innerWidth;")
        for width in (360, 390, 768):
            inside = html.escape(page, True)
            frame = f"""<body><iframe id="f" width="{width}" height="800" srcdoc="{inside}"></iframe><script>
                document.getElementById("f").addEventListener("load", () => setTimeout(() => {{
                document.title = document.getElementById("f").contentDocument.body.dataset.answer; }}, 0));</script></body>"""
            shown = self.browse("--dump-dom", "--virtual-time-budget=2000", text=frame).stdout
            answer = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", shown)[1]))
            with self.subTest(width=width):
                self.assertLessEqual(answer["wide"], answer["window"])

    def test_colours_follow_the_system(self):
        script = "answer.back = getComputedStyle(document.body).backgroundColor;"
        light = self.ask(script)["back"]
        page = self.text.replace("</body>", ASK % script)
        dark = self.browse("--dump-dom", "--blink-settings=preferredColorScheme=0", text=page).stdout
        dark = json.loads(html.unescape(re.search(r'data-answer="([^"]*)"', dark)[1]))["back"]
        self.assertEqual((light, dark), ("rgb(255, 255, 255)", "rgb(20, 24, 27)"))

    def test_the_text_is_there_without_scripts(self):
        # In a frame that may run none.
        frame = f"""<body><iframe id="f" width="900" height="800" sandbox="allow-same-origin" srcdoc="{html.escape(self.text, True)}"></iframe><script>
            const frame = document.getElementById("f");
            frame.addEventListener("load", () => setTimeout(() => {{
            const page = frame.contentDocument, answer = {{}};
            answer.text = page.body.innerText;
            answer.buttons = page.querySelectorAll("button").length;
            answer.hint = page.defaultView.getComputedStyle(page.querySelector(".js")).display;
            document.body.dataset.answer = JSON.stringify(answer); }}, 0));</script></body>"""
        shown = self.browse("--dump-dom", "--virtual-time-budget=2000", text=frame).stdout
        answer = json.loads(html.unescape(re.search(r'data-answer="([^"]*)"', shown)[1]))
        self.assertEqual((answer["buttons"], answer["hint"]), (0, "none"))
        for text in ("hot functions", "Where time went", "scale", "How to read it"):
            self.assertIn(text, answer["text"])

    def test_a_screenshot_is_not_empty(self):
        for width in (1280, 500):
            picture = self.folder / f"{width}.png"
            self.browse(f"--screenshot={picture}", width=width)
            data = picture.read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">II", data[16:24]), (width, 900))
            # A page of one colour is some thousand bytes.
            self.assertGreater(len(data), 20_000)


if __name__ == "__main__":
    unittest.main()
