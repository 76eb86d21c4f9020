import ArgumentParser
import Foundation
import Logging
import RecordServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a data folder until SIGTERM or SIGINT.",
        discussion: """
            Without a certificate of your own, the first start makes a private \
            authority and a certificate in DIR/tls. Clients have to trust the \
            printed file (TIDEMARK_CA).

              tidemark serve --data ./tidemark-data
              tidemark serve --listen 0.0.0.0:7430 --tls-host db.example.org
              tidemark serve --tls-cert fullchain.pem --tls-key privkey.pem
              tidemark serve --listen :7430 --web-listen :7443
              tidemark serve --config /etc/tidemark.json --set in_flight_max=256
              tidemark serve --engine postgres --database-url 'postgresql://db1,db2/notes'

            Settings come from the flags, the environment (TIDEMARK_LISTEN, \
            TIDEMARK_IN_FLIGHT_MAX, …) and the file, in this order of \
            precedence. `tidemark settings --all` lists them all.

            SIGHUP reads the file and the certificate again. The log names the \
            settings that changed, and those that need a restart.
            """
    )

    @OptionGroup var data: DataOption

    @Option(
        help: ArgumentHelp(
            "Where to listen; port 0 is any free one. (default: \(ListenAddress.defaults))",
            valueName: "host:port"
        )
    )
    var listen: String?

    @Option(help: ArgumentHelp("A certificate chain in PEM, the server's first.", valueName: "file"))
    var tlsCert: String?

    @Option(
        help: ArgumentHelp(
            "The certificate's key in PEM; mode 600, or 640 with the server's group.",
            valueName: "file"
        )
    )
    var tlsKey: String?

    @Option(
        name: .customLong("tls-host"),
        help: ArgumentHelp(
            "A name that clients connect to, for the certificate that is made. Repeatable.",
            valueName: "name"
        )
    )
    var tlsHosts: [String] = []

    @Option(help: "sqlite or postgres. (default: what the data folder has, or sqlite)")
    var engine: String?

    @Option(
        name: .customLong("database-url"),
        help: ArgumentHelp(
            "The database of engine postgres, as psql takes it.",
            discussion: "A password may come from ~/.pgpass or PGPASSFILE instead.",
            valueName: "url"
        )
    )
    var databaseURL: String?

    @Option(
        name: .customLong("database-sync"),
        help: ArgumentHelp(
            "required, or off for a PostgreSQL server without a synchronous standby. (default: required)",
            discussion: "Without a standby that confirms commits, a failover loses acknowledged saves."
        )
    )
    var databaseSync: String?

    @Option(help: ArgumentHelp("Settings as a JSON object; TIDEMARK_CONFIG without it.", valueName: "file"))
    var config: String?

    @Option(
        help:
            "trace, debug, info, notice, warning, error or critical. (default: \(Settings.defaults.logLevel))"
    )
    var logLevel: String?

    @Option(help: "text or json. (default: \(Settings.defaults.logFormat.rawValue))")
    var logFormat: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds between two lines of metrics in the log; 0: none. (default: \(Settings.defaults.metricsIntervalSeconds))",
            valueName: "seconds"
        )
    )
    var metricsInterval: String?

    @Option(
        help: ArgumentHelp(
            "A file that the server replaces with its metrics, as Prometheus reads them. (default: none)",
            valueName: "file"
        )
    )
    var metricsFile: String?

    @Option(
        help: ArgumentHelp(
            "Where to serve /metrics, /healthz and /readyz to this machine: 127.0.0.1:PORT or unix:PATH. (default: none)",
            valueName: "address"
        )
    )
    var metricsListen: String?

    @Option(
        help: ArgumentHelp(
            "Where to serve CloudKit Web Services over HTTPS: HOST:PORT. (default: off)",
            discussion: "Without TLS, to this machine alone: http://127.0.0.1:PORT or unix:PATH.",
            valueName: "address"
        )
    )
    var webListen: String?

    @Option(name: .customLong("set"), help: ArgumentHelp("Any setting. Repeatable.", valueName: "name=value"))
    var assignments: [String] = []

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let reader = SettingsReader(
            flags: try self.flags(),
            environment: environment,
            filePath: self.config ?? environment["TIDEMARK_CONFIG"]
        )
        let settings = try await reader.read()
        do {
            try await ServeRun(reader: reader, settings: settings, folder: self.data.folder).run()
        } catch let failure as CommandFailure where settings.logFormat == .json {
            // A program reads this log, and the reason is a line of it like any other.
            settings.makeLogger(level: LogLevel(settings.logLevel)).critical(
                "the server cannot run",
                metadata: [LogKeys.reason: "\(failure.message)"]
            )
            throw ExitCode(failure.code.rawValue)
        }
    }

    /// The flags as settings by name.
    private func flags() throws(CommandFailure) -> [(name: String, value: String)] {
        var flags = try SettingsReader.flags(of: self.assignments)
        let named: [(TextSetting, String?)] = [
            (.listen, self.listen), (.tlsCertificate, self.tlsCert), (.tlsKey, self.tlsKey),
            (.logLevel, self.logLevel), (.logFormat, self.logFormat),
            (.metricsFile, self.metricsFile), (.metricsListen, self.metricsListen),
            (.webListen, self.webListen),
            (.engine, self.engine), (.databaseURL, self.databaseURL),
            (.databaseSync, self.databaseSync),
        ]
        for (setting, value) in named {
            if let value { flags.append((setting.rawValue, value)) }
        }
        if let metricsInterval = self.metricsInterval {
            flags.append(("metrics_interval_s", metricsInterval))
        }
        if !self.tlsHosts.isEmpty {
            flags.append((TextSetting.tlsHosts.rawValue, self.tlsHosts.joined(separator: ",")))
        }
        return flags
    }
}
