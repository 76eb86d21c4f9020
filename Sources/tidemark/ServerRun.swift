import AccessTokens
import FileIO
import Foundation
import Logging
import RecordServer
import RecordStore
import ServiceLifecycle
import UnixSignals

/// One run of a server, from its settings to its exit.
struct ServerRun {
    let settings: Settings
    let folder: DataFolder

    /// Serves until the process gets a signal to stop.
    ///
    /// - Throws: `CommandFailure`.
    func run() async throws {
        let logger = self.settings.makeLogger()
        // Until `CertificateReload` handles the signal, it must not end the process.
        signal(SIGHUP, SIG_IGN)
        self.raiseDescriptorLimit(logger: logger)
        let certificates = CertificateSource(self.settings, folder: self.folder)
        try certificates.check()
        let identityKeys = try await IdentityKeysFile(self.settings.identity, logger: logger)
        try self.folder.refuseUnlessServable()
        // Bind before anything is made. The folder of a server that cannot listen would only be in
        // the way.
        let socket = try self.bind()
        try self.folder.make()
        try self.narrowModes(logger: logger)
        let lock = try DataFolderLock(folder: self.folder)
        self.warnOfFullDisk(logger: logger)
        let tls = try certificates.load(logger: logger)
        let supervisor = Supervisor(environment: ProcessInfo.processInfo.environment, logger: logger)
        supervisor.tell(.opening)
        let engine = try EngineOpening.make(self.folder, settings: self.settings, logger: logger)
        self.settings.log(to: logger)
        let server = try self.makeServer(engine, tls.material, identityKeys?.tokens, logger: logger)
        let service = ServerService(
            server: server,
            store: engine.store,
            socket: socket,
            lock: lock,
            listen: self.settings.listen,
            authorityPath: tls.authorityPath,
            supervisor: supervisor,
            drain: .seconds(self.settings.drainSeconds)
        )
        let metrics = MetricsReport(
            settings: self.settings,
            folder: self.folder,
            server: server,
            logger: logger
        )
        var services: [any Service] = try await metrics.services()
        // Before the server's, so that it ends after it: a long drain needs signs of life, too.
        if let interval = supervisor.watchdogInterval {
            services.append(
                Watchdog(interval: interval, supervisor: supervisor) { await server.threadsResponse() }
            )
        }
        services.append(service)
        services.append(
            CertificateReload(source: certificates, server: server, supervisor: supervisor, logger: logger)
        )
        if let identityKeys { services.append(identityKeys) }
        try await Self.serviceGroup(services, logger: logger).run()
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

    private func makeServer(
        _ engine: EngineOpening.Opened,
        _ tls: TLSMaterial,
        _ identities: IdentityTokens?,
        logger: Logger
    ) throws(CommandFailure) -> RecordServer {
        var configuration = self.settings.server
        configuration.listen = self.listen
        do {
            return try RecordServer(
                configuration: configuration,
                store: engine.store,
                assetBytes: AssetsOpening.make(
                    self.folder,
                    settings: self.settings,
                    reserveMissingBytes: engine.reserveMissingBytes
                ),
                tls: tls,
                identities: identities,
                logger: logger,
                clock: SystemTime.milliseconds
            )
        } catch let error as DirectoryError {
            throw DirectoryAdvice.failure(error, container: "", user: nil)
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
