import Foundation
import TestSupport
import Testing

@testable import tidemark

private struct Registry: Decodable {
    struct Limit: Decodable {
        let name: String
        let `default`: Int
        let unit: String
        let configurable: Bool
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
}
