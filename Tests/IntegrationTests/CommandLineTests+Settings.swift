import Foundation
import TestSupport
import Testing

@testable import tidemark

/// Where settings come from.
@Suite
struct SettingsReaderTests {
    private let directory: TemporaryDirectory

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func file(_ text: String) throws -> String {
        let path = self.directory.path + "/settings.json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func value(_ name: String, in settings: Settings) throws -> Int {
        try #require(NumberSetting.all.first { $0.name == name }).read(settings)
    }

    @Test
    func `flags win over the environment, that over the file, that over the defaults`() async throws {
        let path = try self.file(
            #"{"in_flight_max": 2, "connections_max": 2, "request_items_max": 2, "tls_hosts": ["a", "b"]}"#
        )
        let reader = SettingsReader(
            flags: [("in_flight_max", "3"), ("in_flight_max", "4")],
            environment: [
                "TIDEMARK_IN_FLIGHT_MAX": "5", "TIDEMARK_CONNECTIONS_MAX": "6", "TIDEMARK_TOKEN": "x",
            ],
            filePath: path
        )
        let settings = try await reader.read()
        #expect(try self.value("in_flight_max", in: settings) == 4)
        #expect(try self.value("connections_max", in: settings) == 6)
        #expect(try self.value("request_items_max", in: settings) == 2)
        #expect(try self.value("frame_bytes_max", in: settings) == 3 * 1_024 * 1_024)
        #expect(settings.tlsHosts == ["a", "b"])
    }

    @Test(arguments: NumberSetting.all.map(\.name))
    func `every number can be set and is bounded`(name: String) async throws {
        let setting = try #require(NumberSetting.all.first { $0.name == name })
        #expect(setting.range.contains(setting.read(.defaults)))
        for value in [setting.range.lowerBound, setting.range.upperBound] {
            var settings = Settings.defaults
            setting.assign(&settings, value)
            #expect(setting.read(settings) == value)
        }
        for value in [setting.range.lowerBound - 1, setting.range.upperBound + 1] {
            await #expect(throws: CommandFailure.self) {
                try await SettingsReader(flags: [(name, "\(value)")], environment: [:]).read()
            }
        }
    }

    @Test(arguments: ["1.5", "ten", "", "0x10", "99999999999999999999"])
    func `a number that is none is refused, not ignored`(text: String) async throws {
        await #expect(throws: CommandFailure.self) {
            try await SettingsReader(flags: [], environment: ["TIDEMARK_IN_FLIGHT_MAX": text]).read()
        }
    }

    @Test(
        arguments: [
            (#"{"in_fligth_max": 3}"#, "in_flight_max"), (#"{"tls_certs": "a"}"#, "tls_cert"),
            (#"{"frame_max": 70000}"#, "frame_bytes_max"),
        ]
    )
    func `an unknown name in the file is refused with the nearest one`(
        text: String,
        nearest: String
    ) async throws {
        let reader = SettingsReader(flags: [], environment: [:], filePath: try self.file(text))
        let failure = await #expect(throws: CommandFailure.self) { try await reader.read() }
        #expect(failure?.code == .usage)
        #expect(failure?.message.contains("'\(nearest)'") == true)
    }

    @Test(arguments: ["foo", "x", "listener_backlog"])
    func `a name that is near to none is refused without a suggestion`(name: String) async throws {
        let reader = SettingsReader(flags: [(name, "1")], environment: [:])
        let failure = await #expect(throws: CommandFailure.self) { try await reader.read() }
        #expect(
            failure?.message == "--set: there is no setting '\(name)'. List them: tidemark settings --all"
        )
    }

    @Test
    func `edits are insertions, deletions, replacements and exchanges of neighbours`() {
        #expect(NearestName.edits("", "") == 0)
        #expect(NearestName.edits("", "abc") == 3)
        #expect(NearestName.edits("abc", "") == 3)
        #expect(NearestName.edits("serve", "sevre") == 1)
        #expect(NearestName.edits("kitten", "sitting") == 3)
    }

    @Test
    func `a wrong value is told with the place where it stands`() async throws {
        let path = try self.file(#"{"in_flight_max": "many", "log_level": "loud"}"#)
        func message(_ reader: SettingsReader) async -> String? {
            await #expect(throws: CommandFailure.self) { try await reader.read() }?.message
        }
        let number = "in_flight_max takes a whole number from 1 to 65536: requests in flight on a connection."
        let level = "'loud' is not valid for log_level: it takes"
        #expect(await message(SettingsReader(flags: [("in_flight_max", "-1")], environment: [:])) == number)
        let variables = ["TIDEMARK_IN_FLIGHT_MAX": "0"]
        #expect(
            await message(SettingsReader(flags: [], environment: variables))
                == "TIDEMARK_IN_FLIGHT_MAX: " + number
        )
        let file = SettingsReader(flags: [("log_level", "info")], environment: [:], filePath: path)
        #expect(await message(file) == "\(path): " + number)
        let other = SettingsReader(flags: [("in_flight_max", "1")], environment: [:], filePath: path)
        #expect(await message(other)?.hasPrefix("\(path): " + level) == true)
    }

    @Test
    func `variables that nobody reads are found, with the one that was meant`() async throws {
        let environment = [
            "TIDEMARK_IN_FLIGHT_MX": "3", "TIDEMARK_SOMETHING_ELSE_OF_MINE": "1", "TIDEMARK_DTA": "x",
            "TIDEMARK_URL": "a", "TIDEMARK_CA": "a", "TIDEMARK_TOKEN": "a", "TIDEMARK_CONTAINER": "a",
            "TIDEMARK_ENVIRONMENT": "a", "TIDEMARK_SERVICE_KEY": "a", "TIDEMARK_ON_BEHALF_OF": "a",
            "TIDEMARK_DATA": "a", "TIDEMARK_CONFIG": "a", "TIDEMARK_IN_FLIGHT_MAX": "3", "HOME": "/",
        ]
        let settings = try await SettingsReader(flags: [], environment: environment).read()
        #expect(
            settings.unknownVariables == [
                .init(name: "TIDEMARK_DTA", nearest: "TIDEMARK_DATA"),
                .init(name: "TIDEMARK_IN_FLIGHT_MX", nearest: "TIDEMARK_IN_FLIGHT_MAX"),
                .init(name: "TIDEMARK_SOMETHING_ELSE_OF_MINE", nearest: nil),
            ]
        )
    }

    /// A warning of a variable that a program reads sends its reader away from what works.
    @Test
    func `no variable that the programs, the scripts or the tests read is called unknown`() throws {
        let examples: Set = [
            "TIDEMARK_IN_FLIGHT_MX", "TIDEMARK_SOMETHING_ELSE_OF_MINE", "TIDEMARK_DTA", "TIDEMARK_S",
        ]
        let root = Readme.repository
        var names: Set<String> = []
        for folder in ["Sources", "Clients", "Scripts", "Tests"] {
            let files = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
            while let path = files?.nextObject() as? String {
                let file = root.appendingPathComponent(folder).appendingPathComponent(path)
                guard ["swift", "py", "sh", ""].contains(file.pathExtension),
                    let text = try? String(contentsOf: file, encoding: .utf8)
                else { continue }
                names.formUnion(text.matches(of: /TIDEMARK_[A-Z_]*[A-Z]/).map { String($0.0) })
            }
        }
        #expect(names.isSuperset(of: ["TIDEMARK_CACHE", "TIDEMARK_SCHEMA", "TIDEMARK_AS", "TIDEMARK_FUZZ"]))
        let environment = Dictionary(uniqueKeysWithValues: names.subtracting(examples).map { ($0, "x") })
        #expect(SettingVariable.unknown(in: environment).map(\.name) == [])
    }

    @Test(arguments: [
        "", "[]", "{", "3", #"{"in_flight_max": "many"}"#, #"{"listen": 7}"#, #"{"listen": {"a": 1}}"#,
    ])
    func `a file that is no object of settings is refused`(text: String) async throws {
        let reader = SettingsReader(flags: [], environment: [:], filePath: try self.file(text))
        await #expect(throws: CommandFailure.self) { try await reader.read() }
    }

    @Test(
        arguments: [
            ("record_bytes_max", "2097153"), ("request_bytes_max", "3141633"),
            ("writer_bytes_max", "2097151"),
            ("response_bytes_max", "1048575"), ("tls_key", "key.pem"),
        ]
    )
    func `bounds that contradict each other are refused`(name: String, value: String) async throws {
        await #expect(throws: CommandFailure.self) {
            try await SettingsReader(flags: [(name, value)], environment: [:]).read()
        }
    }

    @Test(arguments: [
        ("record_bytes_max", "2097152"), ("request_bytes_max", "3141632"), ("writer_bytes_max", "2097152"),
    ])
    func `bounds that just fit are taken`(name: String, value: String) async throws {
        let settings = try await SettingsReader(flags: [(name, value)], environment: [:]).read()
        #expect(try self.value(name, in: settings) == Int(value))
    }

    @Test(
        arguments: [
            ("localhost", "localhost:7430"), ("0.0.0.0:1", "0.0.0.0:1"), ("[::1]:65535", "[::1]:65535"),
            ("[::1]", "[::1]:7430"), ("7700", "127.0.0.1:7700"), (":7700", "0.0.0.0:7700"),
        ]
    )
    func `a listen address is read`(text: String, expected: String) {
        #expect(ListenAddress(text)?.description == expected)
    }

    @Test(arguments: ["bad host!", "ü.example", "a..b"])
    func `what is no host is refused for a certificate`(host: String) async throws {
        let reader = SettingsReader(flags: [("tls_hosts", host)], environment: [:])
        let failure = await #expect(throws: CommandFailure.self) { try await reader.read() }
        #expect(failure?.code == .usage)
        #expect(failure?.message.contains("'\(host)'") == true)
    }

    @Test(arguments: ["", ":", "70000", "a:", "a:65536", "a:-1", "a:+1", "[::1", "[::1]x", "::1", "a:b"])
    func `what is no listen address is refused`(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
