import Administration
import Configuration
import Foundation
import RecordModel
import RecordServer

/// Reads the settings.
///
/// Flags take precedence over the environment, the file and the defaults, in this order.
struct SettingsReader {
    /// Names and values as given on the command line.
    ///
    /// A later one of the same name wins.
    var flags: [(name: String, value: String)]
    var environment: [String: String]
    /// The path of a JSON object of settings by name, if there is one.
    var filePath: String?

    static let names = TextSetting.allCases.map(\.rawValue) + NumberSetting.all.map(\.name)

    /// Parses the values of `--set`.
    static func flags(of assignments: [String]) throws(CommandFailure) -> [(name: String, value: String)] {
        var flags: [(name: String, value: String)] = []
        for assignment in assignments {
            guard let equals = assignment.firstIndex(of: "=") else {
                throw CommandFailure(.usage, "--set takes NAME=VALUE, not '\(assignment)'.")
            }
            flags.append(
                (String(assignment[..<equals]), String(assignment[assignment.index(after: equals)...]))
            )
        }
        return flags
    }

    /// Reads the settings as `tidemark serve` would with the same options and environment.
    ///
    /// Without a file of settings, the settings of the server of a folder replace it. `assignments` are
    /// the values of `--set`.
    static func settings(
        beside folder: DataFolder?,
        filePath: String? = nil,
        assignments: [String] = []
    ) async throws -> Settings {
        var environment = ProcessInfo.processInfo.environment
        let filePath = filePath ?? environment["TIDEMARK_CONFIG"]
        if let folder, filePath == nil {
            environment.merge(ServedSettings.variables(in: folder)) { given, _ in given }
        }
        return try await SettingsReader(
            flags: try Self.flags(of: assignments),
            environment: environment,
            filePath: filePath
        ).read()
    }

    /// Reads and checks all settings.
    ///
    /// - Throws: `usage`, with the invalid name, its origin, and the permitted values.
    func read() async throws -> Settings {
        for flag in self.flags where !Self.names.contains(flag.name) {
            throw Self.unknown(flag.name, source: "--set")
        }
        // A provider of plain text by name. The one for command-line arguments would split paths at
        // commas.
        let flags = Dictionary(self.flags.map { ($0.name.uppercased(), $0.value) }) { $1 }
        var providers: [any ConfigProvider] = [
            EnvironmentVariablesProvider(environmentVariables: flags),
            EnvironmentVariablesProvider(environmentVariables: self.environment).prefixKeys(with: "tidemark"),
        ]
        var origins: [String: SettingOrigin] = [:]
        if let filePath = self.filePath {
            for name in try self.namesInFile(filePath) { origins[name] = .file(filePath) }
            providers.append(try await self.fileProvider(filePath))
        }
        for name in Self.names where self.environment[SettingVariable.name(of: name)] != nil {
            origins[name] = .environment
        }
        for flag in self.flags { origins[flag.name] = .flag }
        var settings = try Self.settings(from: ConfigReader(providers: providers), origins: origins)
        settings.unknownVariables = SettingVariable.unknown(in: self.environment)
        return settings
    }

    private static func settings(
        from reader: ConfigReader,
        origins: [String: SettingOrigin]
    ) throws -> Settings {
        var settings = Settings.defaults
        settings.origins = origins
        for setting in TextSetting.allCases {
            guard let origin = origins[setting.rawValue] else { continue }
            let key = ConfigKey([setting.rawValue])
            let list = setting == .tlsHosts ? reader.stringArray(forKey: key) : nil
            guard let values = list ?? reader.string(forKey: key).map({ [$0] }) else {
                throw origin.failure(of: setting.rawValue, "takes text: \(setting.meaning).")
            }
            do throws(CommandFailure) {
                try setting.assign(values, to: &settings)
            } catch {
                throw origin.failure(of: setting.rawValue, error)
            }
        }
        for setting in NumberSetting.all {
            guard let origin = origins[setting.name] else { continue }
            guard let value = reader.int(forKey: ConfigKey([setting.name])), setting.range.contains(value)
            else {
                throw origin.failure(
                    of: setting.name,
                    "takes a whole number from \(setting.range.lowerBound) to "
                        + "\(setting.range.upperBound): \(setting.meaning)."
                )
            }
            setting.assign(&settings, value)
        }
        try self.checkTogether(settings)
        return settings
    }

    /// Checks bounds that depend on each other.
    private static func checkTogether(_ settings: Settings) throws(CommandFailure) {
        let bounds = settings.server.bounds
        guard bounds.recordBytesMax <= bounds.requestBytesMax else {
            throw CommandFailure(.usage, "record_bytes_max must not be larger than request_bytes_max.")
        }
        guard bounds.recordBytesMax <= bounds.responseBytesMax else {
            throw CommandFailure(.usage, "record_bytes_max must not be larger than response_bytes_max.")
        }
        // The frame is larger than the request in it.
        guard bounds.requestBytesMax + Bounds.requestFramingBytesMax <= bounds.frameBytesMax else {
            throw CommandFailure(
                .usage,
                "frame_bytes_max must be 4,096 larger than request_bytes_max, or more."
            )
        }
        guard bounds.requestBytesMax <= settings.writer.bytesMax else {
            throw CommandFailure(.usage, "writer_bytes_max must not be smaller than request_bytes_max.")
        }
        guard (settings.identity.keysPath == nil) == (settings.identity.issuer == nil) else {
            throw CommandFailure(
                .usage,
                "jwt_keys_file and jwt_issuer belong together: give both or neither."
            )
        }
        guard settings.identity.audience == nil || settings.identity.keysPath != nil else {
            throw CommandFailure(.usage, "jwt_audience requires jwt_keys_file and jwt_issuer.")
        }
        guard settings.engine != .sqlite || settings.databaseURL == nil else {
            throw CommandFailure(.usage, "database_url is for engine postgres: leave it out, or the engine.")
        }
        guard (settings.tlsCertificatePath == nil) == (settings.tlsKeyPath == nil) else {
            throw CommandFailure(.usage, "tls_cert and tls_key belong together: give both or neither.")
        }
    }

    /// The names in a file; all of them must be settings.
    private func namesInFile(_ path: String) throws(CommandFailure) -> Set<String> {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure(.usage, "the settings file \(path) cannot be read.")
        }
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw CommandFailure(.usage, "the settings file \(path) is not one JSON object.")
        }
        for name in object.keys.sorted() where !Self.names.contains(name) {
            throw Self.unknown(name, source: path)
        }
        return Set(object.keys)
    }

    private func fileProvider(_ path: String) async throws -> FileProvider<JSONSnapshot> {
        do {
            return try await FileProvider<JSONSnapshot>(
                config: ConfigReader(
                    provider: InMemoryProvider(values: ["filePath": ConfigValue(stringLiteral: path)])
                )
            )
        } catch {
            throw CommandFailure(
                .usage,
                "the settings file \(path) has a value that is neither text, a number, nor a list of them."
            )
        }
    }

    private static func unknown(_ name: String, source: String) -> CommandFailure {
        let suggestion = NearestName.suggestion(for: name, among: self.names)
        return CommandFailure(
            .usage,
            "\(source): there is no setting '\(name)'.\(suggestion) List them: tidemark settings --all"
        )
    }
}
