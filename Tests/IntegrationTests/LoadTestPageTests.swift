import Foundation
import TestSupport
import Testing

private let chromium = ["chromium-headless-shell", "chromium"].map { "/usr/bin/\($0)" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

/// The page of `--report`, in a browser: Debian's `chromium-headless-shell` or `chromium`.
///
/// Where there is none the tests say so; `TIDEMARK_CHROMIUM=1` makes that a failure.
@Suite(
    .enabled(
        if: chromium != nil
            || ProcessInfo.processInfo.environment["TIDEMARK_CHROMIUM"] == "1",
        "no Chromium is installed: apt-get install chromium-headless-shell"
    ),
    .timeLimit(.minutes(10))
)
struct LoadTestPageTests {
    /// Looks for whatever sticks out, and says so in the title.
    private static let inspection = """
        <script>
        const root = document.documentElement;
        const wide = root.scrollWidth > root.clientWidth ? ["page " + root.scrollWidth] : [];
        const out = [...document.querySelectorAll("figure > svg")].flatMap(picture => {
            const frame = picture.getBoundingClientRect();
            return [...picture.querySelectorAll("text, path, rect, line")].filter(part => {
                const box = part.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1
                    || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
            }).map(part => part.outerHTML);
        });
        const small = [...document.querySelectorAll("figure > svg text")]
            .filter(text => text.getBoundingClientRect().height < 9).map(text => "small " + text.textContent);
        const large = [...document.querySelectorAll("figure")]
            .filter(figure => figure.getBoundingClientRect().width > 560).map(() => "blown up");
        const cut = [...document.querySelectorAll("td, .figures div")]
            .filter(cell => cell.getBoundingClientRect().right > root.clientWidth || cell.scrollWidth > cell.clientWidth + 1)
            .map(cell => "cut " + cell.textContent);
        const foreign = performance.getEntriesByType("resource").map(entry => entry.name);
        document.title = JSON.stringify({ pictures: document.querySelectorAll("figure > svg").length,
            faults: wide.concat(out, small, large, cut, foreign) });
        </script>
        """

    private struct Finding: Decodable {
        let pictures: Int
        let faults: [String]
    }

    @Test
    func `the page fits a phone and a desk, needs nothing else, and prints`() async throws {
        let browser = try #require(chromium, "TIDEMARK_CHROMIUM is set, and there is none")
        let load = try await LoadTestProcess.start(users: 1)
        let page = load.server.folder.path + "/report.html"
        let outcome = try await load.run(
            "mix",
            "--verify",
            "--duration",
            "3",
            "--connections",
            "4",
            "--records",
            "640",
            "--report",
            page,
            "--chaos",
            "true <&- && : '<b>'",
            "--chaos-interval",
            "1"
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let text = try String(contentsOfFile: page, encoding: .utf8)
        #expect(!text.contains("<script") && !text.contains("http"))
        #expect(text.contains("&lt;b&gt;") && !text.contains("<b>"))
        let finding = try await Self.inspect(page, load, browser, widths: [390, 794, 1_280])
        #expect(finding.pictures >= 3 * 9, "three for each kind of request")
        let printed = load.server.folder.path + "/report.pdf"
        let run = try await ChildProcess.run(
            URL(fileURLWithPath: browser),
            Self.flags(load) + ["--no-pdf-header-footer", "--print-to-pdf=\(printed)", "file://\(page)"]
        )
        let pdf = try Data(contentsOf: URL(fileURLWithPath: printed))
        #expect(pdf.starts(with: Data("%PDF".utf8)), "\(run.errors)")
        let pages = String(decoding: pdf, as: Unicode.ASCII.self).matches(of: /\/Type \/Page\b/).count
        #expect((2...5).contains(pages))
    }

    @Test(arguments: [["--overload", "--rate", "50"], ["--ramp", "--rate", "50", "--p99", "0.001"]])
    func `an overload and a ramp have pages that fit, too`(arguments: [String]) async throws {
        let browser = try #require(chromium, "TIDEMARK_CHROMIUM is set, and there is none")
        let load = try await LoadTestProcess.start(users: 1)
        let page = load.server.folder.path + "/report.html"
        let sizes = ["--connections", "4", "--records", "640", "--duration", "1", "--warm-up", "0.1"]
        let outcome = try await load.begin(["save", "--report", page] + sizes + arguments).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let finding = try await Self.inspect(page, load, browser, widths: [390, 1_280])
        #expect(finding.pictures >= 4)
    }

    /// Looks at a page in windows of several widths.
    private static func inspect(
        _ page: String,
        _ load: LoadTestProcess,
        _ browser: String,
        widths: [Int]
    ) async throws -> Finding {
        let text = try String(contentsOfFile: page, encoding: .utf8)
        let inspected = load.server.folder.path + "/inspected.html"
        try text.replacing("</body>", with: Self.inspection + "</body>")
            .write(toFile: inspected, atomically: true, encoding: .utf8)
        var last: Finding?
        for width in widths {
            let run = try await ChildProcess.run(
                URL(fileURLWithPath: browser),
                Self.flags(load) + ["--window-size=\(width),900", "--dump-dom", "file://\(inspected)"]
            )
            let title = try #require(run.output.firstMatch(of: /<title>(.*?)<\/title>/), "\(run.errors)").1
            let json = title.replacing("&amp;", with: "&").replacing("&lt;", with: "<")
                .replacing("&gt;", with: ">")
            let finding = try JSONDecoder().decode(Finding.self, from: Data(json.utf8))
            #expect(finding.faults.isEmpty, "at \(width) pixels: \(finding.faults.prefix(5))")
            last = finding
        }
        return try #require(last)
    }

    private static func flags(_ load: LoadTestProcess) -> [String] {
        [
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--user-data-dir=\(load.server.folder.path)/browser",
        ]
    }
}
