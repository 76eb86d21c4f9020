import Foundation
import NIOCore
import SQLiteEngine
import TestSupport
import Testing
import Transport

@testable import RecordServer

/// Limits that no operator may set, and that are the server's alone, against `Protocol/registry.json`.
@Suite struct FixedLimitTests {
    private struct Registry: Decodable {
        struct Limit: Decodable {
            let name: String
            let `default`: Int64
            let configurable: Bool
        }

        let limits: [Limit]
    }

    private static let limits: [String: Int64] = [
        "pong_timeout_ms": KeepaliveStateMachine.pongTimeout.nanoseconds / 1_000_000,
        "control_frames_per_second_max": Int64(ControlFrameBudget.framesPerSecondMax),
        "account_control_frames_per_second_max": Int64(ControlFramePace.framesPerSecondMax),
        "refused_handshakes_max": Int64(RefusalPace.burst),
        "cursor_lifetime_s": QueryCursor.lifetimeMilliseconds / 1_000,
        "upload_windows_bytes": Int64(ServerConfiguration.defaults.assets.uploadWindowsBytes),
        "full_disk_reserve_bytes": SQLiteEngineConfiguration.serverReserveBytes,
    ]

    @Test func `the server keeps to the fixed limits of the registry`() throws {
        let text = try ProtocolFiles.text("registry.json")
        let registry = try JSONDecoder().decode(Registry.self, from: Data(text.utf8))
        for (name, value) in Self.limits {
            let limit = try #require(registry.limits.first { $0.name == name }, "\(name)")
            #expect(limit.default == value && !limit.configurable, "\(name)")
        }
    }
}
