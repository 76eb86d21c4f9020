import Foundation
import Testing

extension Browser {
    /// Shows each page on every screen in every look, and on paper: it fits, and breaks no rule of
    /// accessibility.
    ///
    /// Its pictures are in the build folder (`Browser.folder`).
    func inspect(_ pages: [(name: String, path: String)], of base: String) async throws {
        for page in pages {
            try await self.inspect(page.name) { try await self.go(base + page.path) }
        }
    }

    /// The same for the page that is there, such as the answer to a form.
    func inspectPresent(_ name: String) async throws {
        try await self.inspect(name) {}
        try await self.show(on: .desk, .light)
    }

    private func inspect(_ page: String, _ load: () async throws -> Void) async throws {
        let axe = try await Axe.script()
        for screen in Screen.allCases {
            for look in Look.allCases where look != .print || screen == .desk {
                try await self.show(on: screen, look)
                try await load()
                let name = look == .print ? "\(page)-print" : "\(page)-\(screen)-\(look)"
                let faults = try await self.evaluate(Self.inspection)
                #expect(faults == "[]", "\(name): \(faults)")
                if look != .print {
                    let violations = try await Axe.violations(axe, in: self)
                    #expect(violations == [], "\(name): \(violations)")
                }
                try await self.picture(name)
            }
        }
    }

    /// Elements that stick out of the page, or are too small for a finger.
    private static let inspection = """
        (() => {
            const root = document.documentElement;
            const wide = root.scrollWidth > root.clientWidth ? ["page " + root.scrollWidth] : [];
            const isPhone = root.clientWidth < 600;
            const small = isPhone ? [...document.querySelectorAll("button, input:not([type=hidden]), select")]
                .filter(part => part.offsetParent && part.getBoundingClientRect().height < 44)
                .map(part => "small " + part.outerHTML.slice(0, 80)) : [];
            const styled = getComputedStyle(document.querySelector(".bar")).display === "flex" ? [] : ["no style"];
            const scripted = root.classList.contains("scripted") ? [] : ["no script"];
            return wide.concat(small, styled, scripted);
        })()
        """
}
