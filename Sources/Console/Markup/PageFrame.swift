import RecordModel

/// The frame of every page: head, navigation, foot, help.
enum PageFrame {
    static func html(of page: Page) -> String {
        page.isAlone ? self.alone(page) : self.framed(page)
    }

    private static let meta: Markup = """
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        """

    private static func alone(_ page: Page) -> String {
        let document: Markup = """
            <!doctype html>
            <html lang="en">
            <head>
            \(self.meta)
            <title>\(page.title) – Tidemark</title>
            </head>
            <body>
            <main>
            <h1>\(page.title)</h1>
            \(page.body)
            </main>
            </body>
            </html>
            """
        return document.html
    }

    private static func framed(_ page: Page) -> String {
        let production: Markup =
            page.place?.environment == .production ? " data-environment=\"production\"" : ""
        let document: Markup = """
            <!doctype html>
            <html lang="en"\(production)>
            <head>
            \(self.meta)
            <title>\(page.title)\(self.titlePlace(page.place)) – Tidemark</title>
            <link rel="icon" href="\(ConsoleFile.icon.path)">
            <link rel="stylesheet" href="\(ConsoleFile.style.path)">
            <link rel="stylesheet" href="\(ConsoleFile.operation.path)">
            <script type="module" src="\(ConsoleFile.script.path)"></script>
            </head>
            <body>
            <a class="skip" href="#main">Skip to the content</a>
            \(self.head(page))
            <main id="main" tabindex="-1">
            <h1>\(page.title)</h1>
            \(page.body)
            </main>
            \(self.foot(page))
            \(self.help)
            </body>
            </html>
            """
        return document.html
    }

    private static func titlePlace(_ place: Place?) -> String {
        place.map { " – \($0.container) \($0.environment.name)" } ?? ""
    }

    // MARK: Head

    private static func head(_ page: Page) -> Markup {
        """
        <header>
        <div class="bar">
        <a class="brand" href="/">Tidemark</a>
        \(page.place.map { self.environments($0, page.section) })
        \(page.session.map { _ in self.tools(page.tool) })
        \(page.session.map { self.leave($0) })
        </div>
        \(page.place.map { self.sections($0, page.section) })
        </header>
        """
    }

    private static func environments(_ place: Place, _ section: Page.Section?) -> Markup {
        let links = Environment.allCases.map { environment -> Markup in
            var other = place
            other.environment = environment
            let current: Markup = environment == place.environment ? " aria-current=\"true\"" : ""
            return
                "<a href=\"\(other.url(section))\" class=\"\(environment.name)\"\(current)>\(environment.name)</a>"
        }
        return """
            <nav class="place" aria-label="Environment">
            <a class="container" href="\(place.url(nil))">\(place.container)</a>
            \(links)
            </nav>
            """
    }

    private static func sections(_ place: Place, _ section: Page.Section?) -> Markup {
        let links = Page.Section.allCases.map { other -> Markup in
            let current: Markup = other == section ? " aria-current=\"page\"" : ""
            return "<a href=\"\(place.url(other))\"\(current)>\(other.title)</a>"
        }
        return "<nav class=\"sections\" aria-label=\"Container\">\(links)</nav>"
    }

    private static func tools(_ current: Page.Tool?) -> Markup {
        let links = Page.Tool.allCases.map { tool -> Markup in
            let mark: Markup = tool == current ? " aria-current=\"page\"" : ""
            return "<a href=\"/\(tool.rawValue)\"\(mark)>\(tool.title)</a>"
        }
        return "<nav class=\"tools\" aria-label=\"Server\">\(links)</nav>"
    }

    private static func leave(_ session: Session) -> Markup {
        """
        <form class="leave" method="post" action="/leave">
        <input type="hidden" name="secret" value="\(session.formSecret)">
        <button type="submit">Leave</button>
        </form>
        """
    }

    // MARK: Foot

    private static func foot(_ page: Page) -> Markup {
        let server: Markup =
            switch page.surroundings.server {
            case .serving(let address): "A server serves it at \(address)."
            case .notServing: "No server serves it now."
            }
        let folder: Markup =
            page.session == nil
            ? "" : "<span>Data in <bdi>\(page.surroundings.folder)</bdi>. \(server)</span>"
        return """
            <footer>
            \(folder)
            <span>Tidemark \(page.surroundings.version), read at \(Shown.time(milliseconds: page.surroundings.nowMilliseconds)) UTC</span>
            <span class="screen">Press <kbd>?</kbd> for keys.</span>
            </footer>
            """
    }

    private static let help: Markup = """
        <dialog id="help" aria-labelledby="help-title">
        <h2 id="help-title">Keys</h2>
        <dl>
        <dt><kbd>/</kbd></dt><dd>to the filter</dd>
        <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row</dd>
        <dt><kbd>Enter</kbd></dt><dd>open the row</dd>
        <dt><kbd>n</kbd></dt><dd>next page</dd>
        <dt><kbd>e</kbd></dt><dd>edit the record</dd>
        <dt><kbd>?</kbd></dt><dd>this help</dd>
        </dl>
        <form method="dialog"><button>Close</button></form>
        </dialog>
        """
}

extension Environment {
    /// As in a URL, and as people read it.
    var name: String {
        switch self {
        case .development: "development"
        case .production: "production"
        }
    }

    init?(name: String) {
        guard let found = Environment.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}
