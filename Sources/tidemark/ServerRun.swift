import AssetStore
import Logging
import RecordServer
import SQLiteEngine
import ServerCertificates
import ServiceLifecycle
import UnixSignals

/// One run of a server: everything between the settings and the exit.
struct ServerRun {
    let settings: Settings
    let folder: DataFolder

    /// Serves until the process is told to stop.
    ///
    /// - Throws: `CommandFailure`.
    func run() async throws {
        let logger = self.settings.makeLogger()
        try self.folder.refuseUnlessServable()
        try self.folder.make()
        let lock = try DataFolderLock(folder: self.folder)
        let tls = try self.loadTLS(logger: logger)
        let identityKeys = try await IdentityKeysFile(self.settings.identity, logger: logger)
        let engine = try EngineOpening.make(self.folder, settings: self.settings, logger: logger)
        self.settings.log(to: logger)
        var configuration = self.settings.server
        configuration.listen.host = self.settings.listen.host
        configuration.listen.port = self.settings.listen.port
        var files = AssetStoreConfiguration(directory: self.folder.assetsPath)
        files.threads = self.settings.assetThreads
        files.chunks.bytes = self.settings.assetChunkBytes
        files.reserveBytes = Int64(self.settings.diskReserveBytes)
        let server = try RecordServer(
            configuration: configuration,
            engine: engine,
            files: AssetStore(files),
            tls: tls.material,
            identities: identityKeys?.tokens,
            logger: logger,
            clock: SystemTime.milliseconds
        )
        let service = ServerService(
            server: server,
            engine: engine,
            listen: self.settings.listen,
            authorityPath: tls.authorityPath,
            drain: .seconds(self.settings.drainSeconds)
        )
        let metrics = MetricsReport(
            settings: self.settings,
            folder: self.folder,
            server: server,
            logger: logger
        )
        var services: [any Service] = try await metrics.services() + [service]
        if let identityKeys { services.append(identityKeys) }
        // The library tells about its own steps at info: of interest to those who write servers.
        var lifecycleLogger = logger
        lifecycleLogger.logLevel = max(logger.logLevel, .warning)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) },
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: lifecycleLogger
            )
        )
        try await group.run()
        _ = consume lock
    }

    /// The certificate to serve with, and the authority to trust when it is of our making.
    private func loadTLS(logger: Logger) throws -> (material: TLSMaterial, authorityPath: String?) {
        if let chain = self.settings.tlsCertificatePath, let key = self.settings.tlsKeyPath {
            return (.files(certificateChain: chain, privateKey: key), nil)
        }
        do {
            let files = try CertificateFiles.loadOrMake(
                directory: self.folder.path,
                hosts: [self.settings.listen.host] + self.settings.tlsHosts
            )
            switch files.event {
            case .made:
                logger.info(
                    "made an authority and a certificate",
                    metadata: [LogKeys.path: "\(files.authorityPath)"]
                )
            case .reissued(let reason):
                logger.info("issued the certificate anew", metadata: [LogKeys.reason: "\(reason)"])
            case .reused: break
            }
            return (
                .pem(certificateChain: files.chainPEM, privateKey: files.keyPEM), files.authorityPath
            )
        } catch let error as CertificateFilesError {
            throw CertificateAdvice.failure(error)
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "the certificates in \(self.folder.path)/tls cannot be read or written. Check who owns them."
            )
        }
    }
}
