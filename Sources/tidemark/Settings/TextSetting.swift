import AccessTokens
import Foundation
import Logging
import MonitoringEndpoint
import ServerCertificates

/// The settings that are not numbers, by their names in a file.
enum TextSetting: String, CaseIterable {
    case listen
    case tlsCertificate = "tls_cert"
    case tlsKey = "tls_key"
    case tlsHosts = "tls_hosts"
    case logLevel = "log_level"
    case logFormat = "log_format"
    case logFile = "log_file"
    case metricsFile = "metrics_file"
    case metricsListen = "metrics_listen"
    case webListen = "web_listen"
    case identityKeys = "jwt_keys_file"
    case identityIssuer = "jwt_issuer"
    case identityAudience = "jwt_audience"
    case identityKeysKeep = "jwt_keys_keep"
    case engine
    case databaseURL = "database_url"
    case databaseSync = "database_sync"
    case sharedAssets = "shared_assets"

    var meaning: String {
        switch self {
        case .listen: "where to listen: HOST:PORT"
        case .tlsCertificate: "a certificate chain in PEM; without it one is made in the data folder"
        case .tlsKey: "the certificate's key in PEM"
        case .tlsHosts: "more names that clients connect to, for the certificate that is made"
        case .logLevel: "trace, debug, info, notice, warning, error or critical"
        case .logFormat: "text or json, one line per event, to standard error"
        case .logFile: "a file that gets the log too, as JSON: the console shows it"
        case .metricsFile:
            "a file that the server replaces with its metrics, as Prometheus' node_exporter reads them"
        case .metricsListen:
            "where to serve metrics and health over HTTP, to this machine alone: 127.0.0.1:PORT, [::1]:PORT or unix:PATH"
        case .webListen:
            "where to serve CloudKit Web Services: HOST:PORT with the server's certificate; http://127.0.0.1:PORT or unix:PATH without TLS, to this machine alone; off"
        case .identityKeys:
            "public keys of an identity provider, a JSON Web Key Set or PEM; read again when it changes"
        case .identityIssuer: "iss of the provider's tokens"
        case .identityAudience: "aud of the provider's tokens; without it the container's identifier"
        case .identityKeysKeep:
            "when the last keys stay valid without their file: never, while-unreadable, or always (also when it is empty or gone)"
        case .engine: "where the store is: sqlite, or postgres; without it what the data folder says"
        case .databaseURL:
            "the database of engine postgres, as its programs take it; without it what the data folder says"
        case .databaseSync:
            "whether commits in PostgreSQL have to wait for a synchronous standby: required, or off for a single server"
        case .sharedAssets:
            "whether servers of one database must have one folder of assets: required, or off if no app stores any"
        }
    }

    /// Whether SIGHUP is enough for a new value, without a restart.
    var isReloadable: Bool {
        switch self {
        case .logLevel, .tlsCertificate, .tlsKey, .tlsHosts: true
        case .listen, .logFormat, .logFile, .metricsFile, .metricsListen, .webListen, .identityKeys,
            .identityIssuer,
            .identityAudience, .identityKeysKeep, .engine, .databaseURL, .databaseSync,
            .sharedAssets:
            false
        }
    }

    /// Whether operators rarely need it.
    var isAdvanced: Bool {
        [.identityKeysKeep, .engine, .databaseSync, .sharedAssets, .logFile].contains(self)
    }

    var defaultText: String { self.read(.defaults) }

    func read(_ settings: Settings) -> String {
        switch self {
        case .listen: settings.listen.description
        case .tlsCertificate: settings.tlsCertificatePath ?? ""
        case .tlsKey: settings.tlsKeyPath ?? ""
        case .tlsHosts: settings.tlsHosts.joined(separator: ",")
        case .logLevel: settings.logLevel.rawValue
        case .logFormat: settings.logFormat.rawValue
        case .logFile: settings.logFilePath ?? ""
        case .metricsFile: settings.metricsFilePath ?? ""
        case .metricsListen: settings.metricsListen?.description ?? ""
        case .webListen: settings.webListen?.description ?? ""
        case .identityKeys: settings.identity.keysPath ?? ""
        case .identityIssuer: settings.identity.issuer ?? ""
        case .identityAudience: settings.identity.audience ?? ""
        case .identityKeysKeep: settings.identity.keyRetention.rawValue
        case .engine: settings.engine?.rawValue ?? ""
        case .databaseURL: settings.databaseURL?.shown ?? ""
        case .databaseSync: settings.databaseSync.rawValue
        case .sharedAssets: settings.sharedAssets.rawValue
        }
    }

    /// Sets the value.
    ///
    /// A list has all its elements, any other value has one.
    func assign(_ values: [String], to settings: inout Settings) throws(CommandFailure) {
        let value = values.first ?? ""
        switch self {
        case .listen:
            guard let address = ListenAddress(value) else {
                throw self.refusal(value, "HOST:PORT, PORT or :PORT")
            }
            settings.listen = address
        case .tlsCertificate:
            settings.tlsCertificatePath = value
        case .tlsKey:
            settings.tlsKeyPath = value
        case .tlsHosts:
            let hosts = values.filter { !$0.isEmpty }
            if let wrong = hosts.first(where: { !HostNames.isHost($0) }) {
                throw self.refusal(
                    wrong,
                    "names of letters, digits, '-' and '.', or addresses; for an international name its xn-- form"
                )
            }
            settings.tlsHosts = hosts
        case .logLevel:
            guard let level = Logger.Level(rawValue: value) else { throw self.refusal(value, self.meaning) }
            settings.logLevel = level
        case .logFormat:
            guard let format = Settings.LogFormat(rawValue: value) else {
                throw self.refusal(value, "text or json")
            }
            settings.logFormat = format
        case .logFile:
            // The console reads the path in a line of the lock.
            guard !value.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
                throw self.refusal(value, "a path without control characters")
            }
            settings.logFilePath = value.isEmpty ? nil : URL(fileURLWithPath: value).standardizedFileURL.path
        case .metricsFile: settings.metricsFilePath = value
        case .metricsListen:
            settings.metricsListen = try MetricsListen.address(value)
        case .webListen:
            settings.webListen = try WebListen(value)
        case .identityKeys:
            settings.identity.keysPath = value
        case .identityIssuer:
            settings.identity.issuer = value
        case .identityAudience:
            settings.identity.audience = value
        case .identityKeysKeep:
            guard let retention = KeyRetention(rawValue: value) else {
                throw self.refusal(value, KeyRetention.allCases.map(\.rawValue).joined(separator: ", "))
            }
            settings.identity.keyRetention = retention
        case .engine:
            guard let engine = Settings.Engine(rawValue: value) else {
                throw self.refusal(value, Settings.Engine.allCases.map(\.rawValue).joined(separator: " or "))
            }
            settings.engine = engine
        case .databaseURL:
            settings.databaseURL = DatabaseURL(text: value)
        case .databaseSync:
            guard let sync = Settings.DatabaseSync(rawValue: value) else {
                throw self.refusal(value, "required or off")
            }
            settings.databaseSync = sync
        case .sharedAssets:
            guard let sharing = Settings.SharedAssets(rawValue: value) else {
                throw self.refusal(value, "required or off")
            }
            settings.sharedAssets = sharing
        }
    }

    private func refusal(_ value: String, _ expected: String) -> CommandFailure {
        CommandFailure(.usage, "'\(value)' is not valid for \(self.rawValue): it takes \(expected).")
    }
}
