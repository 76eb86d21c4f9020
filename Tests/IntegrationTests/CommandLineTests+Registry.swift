import Foundation
import RecordServer
import TestSupport
import Testing

@testable import tidemark

private struct Registry: Decodable {
    struct Limit: Decodable {
        let name: String
        let `default`: Int
        let unit: String
        let configurable: Bool
        let welcome: Bool?
    }

    let limits: [Limit]

    static func read() throws -> Registry {
        try JSONDecoder().decode(Registry.self, from: Data(ProtocolFiles.text("registry.json").utf8))
    }
}

extension NumberSetting {
    /// A limit's setting has its name, or that and its unit.
    fileprivate static func of(_ limit: Registry.Limit) -> NumberSetting? {
        self.all.first { $0.name == limit.name || $0.name == "\(limit.name)_\(limit.unit)" }
    }
}

extension CommandLineTests {
    @Test
    func `every limit that the registry calls configurable is a setting with its default`() throws {
        // Each client announces how much of one answer it is ready to take.
        let ofClients: Set = ["stream_window"]
        let limits = try Registry.read().limits.filter { $0.configurable && !ofClients.contains($0.name) }
        #expect(limits.count > 10)
        for limit in limits {
            let setting = try #require(NumberSetting.of(limit), "\(limit.name) is no setting")
            #expect(setting.read(.defaults) == limit.default, "\(limit.name)")
        }
    }

    @Test
    func `no limit that the registry fixes is a setting`() throws {
        for limit in try Registry.read().limits where !limit.configurable {
            #expect(NumberSetting.of(limit) == nil, "\(limit.name)")
        }
    }

    @Test
    func `a setting reaches the welcome if the registry says so, and only then`() throws {
        let ofClients: Set = ["stream_window"]
        for limit in try Registry.read().limits where limit.configurable && !ofClients.contains(limit.name) {
            let setting = try #require(NumberSetting.of(limit), "\(limit.name) is no setting")
            var settings = Settings.defaults
            let isLeast = limit.default == setting.range.lowerBound
            setting.assign(&settings, isLeast ? limit.default + 1 : limit.default - 1)
            let isTold = settings.server.limits != Settings.defaults.server.limits
            #expect(isTold == (limit.welcome == true), "\(limit.name)")
        }
    }
}
