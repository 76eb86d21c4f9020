import AccessTokens
import Administration
import Console
import FileIO
import Foundation
import Logging
import MonitoringEndpoint
import RecordServer
import RecordStore
import ServiceLifecycle
import UnixSignals

/// One run of a server, from its settings to its exit.
struct ServeRun {
    let reader: SettingsReader
    /// As the reader had them at the start.
    let settings: Settings
    let folder: DataFolder

    /// Serves until the process gets a signal to stop.
    ///
    /// - Throws: `CommandFailure`.
    func run() async throws {
        let logLevel = LogLevel(self.settings.logLevel)
        let logFile = try self.settings.openLogFile()
        let logger = self.settings.makeLogger(level: logLevel, file: logFile)
        // Until `SettingsReload` handles the signal, it must not end the process.
        signal(SIGHUP, SIG_IGN)
        FreedMemory.keep()
        self.raiseDescriptorLimit(logger: logger)
        let certificates = CertificateSource(self.settings, folder: self.folder)
        try certificates.check()
        let identityKeys = try await IdentityKeysFile(self.settings.identity, logger: logger)
        try self.folder.refuseUnlessServable()
        try FolderContents(folder: self.folder).refuseForeign(exceptNamedIn: self.namedPaths)
        try PostgreSQLOpening.check(self.folder, settings: self.settings)
        if try PostgreSQLOpening.url(of: self.folder, settings: self.settings) == nil {
            try FolderContents(folder: self.folder).refuseRemains()
        }
        // Bind before anything is made. The folder of a server that cannot listen would only be in
        // the way.
        let sockets = Sockets(server: try self.bind(), web: try self.settings.webListen?.bind())
        let health = ServerHealth()
        let reading = MetricsReading(health: health, folder: self.folder)
        let endpoint = try await self.monitor(health, reading, logger: logger)
        do {
            try await self.serve(
                on: sockets,
                certificates,
                identityKeys,
                Report(reading: reading, logLevel: logLevel, logger: logger)
            )
            await endpoint?.stop()
        } catch {
            await endpoint?.stop()
            throw error
        }
    }

    /// The addresses that were taken before anything is made.
    private struct Sockets {
        let server: BoundSocket
        /// `nil` if CloudKit Web Services are not served.
        let web: WebListener?
    }

    /// The sources of what operators learn of the server.
    private struct Report {
        let reading: MetricsReading
        let logLevel: LogLevel
        let logger: Logger
    }

    private var logDestination: LogDestination {
        LogDestination.ofServer(
            filePath: self.settings.logFilePath,
            environment: ProcessInfo.processInfo.environment
        )
    }

    /// The values that may be paths in the data folder, of all settings and of their file.
    private var namedPaths: [String] {
        let texts = TextSetting.allCases.map { $0.read(self.settings) } + [self.reader.filePath ?? ""]
        return texts.flatMap { [$0, URL(fileURLWithPath: $0).standardizedFileURL.path] }
    }

    /// Opens the store and serves it.
    private func serve(
        on sockets: Sockets,
        _ certificates: CertificateSource,
        _ identityKeys: IdentityKeysFile?,
        _ report: Report
    ) async throws {
        let logger = report.logger
        try self.folder.make()
        try self.narrowModes(logger: logger)
        let lock = try DataFolderLock(folder: self.folder)
        self.warnOfFullDisk(logger: logger)
        let tls = try certificates.load(logger: logger)
        let supervisor = Supervisor(environment: ProcessInfo.processInfo.environment, logger: logger)
        supervisor.tell(.opening)
        let faults = FaultLog(logger)
        let engine = try EngineOpening.make(self.folder, settings: self.settings, faults: faults)
        self.tellSettings(logger: logger)
        let live = LiveSettings(self.settings)
        let server = try self.makeServer(engine, tls.material, identityKeys?.tokens, live, faults)
        report.reading.health.opened(server, whenFull: engine.whenFull)
        let service = ServerService(
            server: server,
            store: engine.store,
            format: engine.format,
            unsafeSettings: engine.unsafeSettings,
            socket: sockets.server,
            web: sockets.web,
            lock: lock,
            listen: self.settings.listen,
            authorityPath: tls.authorityPath,
            supervisor: supervisor,
            settings: live,
            log: self.logDestination
        )
        let metrics = MetricsReport(
            settings: self.settings,
            reading: report.reading,
            server: server,
            logger: logger
        )
        var services: [any Service] = try await metrics.services()
        services.append(
            TelemetryKeeping(
                path: TelemetryFile.path(in: self.folder),
                reading: report.reading,
                clock: SystemTime.milliseconds,
                logger: logger
            )
        )
        // Before the server's, so that it ends after it: a long drain needs signs of life, too.
        if let interval = supervisor.watchdogInterval {
            services.append(
                Watchdog(interval: interval, supervisor: supervisor) { await server.threadsResponse() }
            )
        }
        services += [service, CertificateWatch(server: server, logger: logger)]
        services.append(
            SettingsReload(
                reader: self.reader,
                settings: live,
                folder: self.folder,
                server: server,
                supervisor: supervisor,
                logLevel: report.logLevel,
                logger: logger
            )
        )
        if let identityKeys { services.append(identityKeys) }
        try await Self.serviceGroup(services, logger: logger).run()
    }

    /// Tells the settings to the log, and to commands in the folder.
    private func tellSettings(logger: Logger) {
        self.settings.log(to: logger)
        ServedSettings.write(self.settings, in: self.folder, logger: logger)
    }

    private static func serviceGroup(_ services: [any Service], logger: Logger) -> ServiceGroup {
        // The library logs its own steps at info, which only its developers need.
        var lifecycleLogger = logger
        lifecycleLogger.logLevel = max(logger.logLevel, .warning)
        return ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) },
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: lifecycleLogger
            )
        )
    }

    /// Serves metrics and health, from before the store is opened until the process ends.
    private func monitor(
        _ health: ServerHealth,
        _ reading: MetricsReading,
        logger: Logger
    ) async throws -> MonitoringEndpoint? {
        guard let address = self.settings.metricsListen else { return nil }
        let pages = MonitoringPages(health: health, reading: reading)
        do {
            let endpoint = try await MonitoringEndpoint(on: address, pages: pages.byPath, logger: logger)
            logger.info("serving metrics", metadata: [LogKeys.address: "\(endpoint.address)"])
            return endpoint
        } catch let error as EndpointFailure {
            throw MetricsListen.failure(error, address)
        }
    }

    private func makeServer(
        _ engine: EngineOpening.Opened,
        _ tls: TLSMaterial,
        _ identities: IdentityTokens?,
        _ live: LiveSettings,
        _ faults: FaultLog
    ) throws(CommandFailure) -> RecordServer {
        var configuration = self.settings.server
        configuration.listen = self.listen
        do {
            return try RecordServer(
                configuration: configuration,
                store: engine.store,
                assetBytes: AssetsOpening.make(
                    self.folder,
                    settings: live,
                    reserveMissingBytes: engine.reserveMissingBytes
                ),
                tls: tls,
                identities: identities,
                faults: faults,
                clock: SystemTime.milliseconds
            )
        } catch let error as DirectoryError {
            throw CommandFailure(.directory(error, container: ""))
        } catch {
            throw CommandFailure(.configuration, "the certificate cannot be used: \(error).")
        }
    }

    private var listen: ServerConfiguration.Listen {
        var listen = self.settings.server.listen
        listen.host = self.settings.listen.host
        listen.port = self.settings.listen.port
        return listen
    }

    private func bind() throws(CommandFailure) -> BoundSocket {
        do throws(BoundSocket.Failure) {
            return try BoundSocket(self.listen)
        } catch {
            throw ListenAdvice.failure(error, self.settings.listen)
        }
    }

    /// Warns at the start if the limit of descriptors is too low for the settings.
    private func raiseDescriptorLimit(logger: Logger) {
        let limit = DescriptorLimit.raise()
        let needed = DescriptorLimit.needed(by: self.settings)
        guard limit < needed else { return }
        logger.warning(
            "the limit of open files is too low for connections_max",
            metadata: [
                "limit": .stringConvertible(limit), "needed": .stringConvertible(needed),
                "connections_max": .stringConvertible(self.settings.server.listen.connectionsMax),
                LogKeys.advice:
                    "Raise it (LimitNOFILE of a systemd unit, ulimit -n, --ulimit nofile of a container), or lower connections_max.",
            ]
        )
    }

    private func narrowModes(logger: Logger) throws(CommandFailure) {
        let narrowed = try DataFolderAccess(folder: self.folder).narrow()
        guard !narrowed.isEmpty else { return }
        logger.warning(
            "removed other users' access to the data folder",
            metadata: [LogKeys.path: "\(narrowed.joined(separator: " "))"]
        )
    }

    /// Warns at the start if the disk is too full for saves.
    private func warnOfFullDisk(logger: Logger) {
        guard let room = try? FileCopy.room(at: self.folder.path),
            room < Int64(self.settings.diskReserveBytes)
        else { return }
        logger.error(
            "the disk is almost full: uploads are refused, and soon all changes will be",
            metadata: ["path": "\(self.folder.path)", "bytes_left": "\(room)"]
        )
    }
}
