package import AccessTokens
package import AssetStorage
import FileIO
import Logging
import NIOCore
import NIOPosix
import NIOSSL
package import RecordStore
import StorageContract
import Synchronization

/// The server: listens, serves and drains.
///
/// All work on a connection runs on the connection's event loop and on threads of the engine; no
/// request needs a task or an await.
package final class RecordServer: Sendable {
    struct Running {
        var group: MultiThreadedEventLoopGroup
        var loops: [ServedLoop]
        var listener: any Channel
        var timers: [RepeatedTask]
    }

    /// Minimum time for the router's shutdown, even if the connections have used up the grace
    /// period.
    private static let routerStopMin = Duration.milliseconds(250)

    let context: ServerContext
    let tls: ServedCertificate
    let door = DoorChannels()
    let running = Mutex<Running?>(nil)
    private let currentPhase = Atomic(ServerPhase.starting)

    /// - Parameters:
    ///   - configuration: The settings.
    ///   - store: The record store. It is not shut down with the server.
    ///   - assetBytes: The storage of asset bytes; started and stopped with the server.
    ///   - tls: The server's certificate and key.
    ///   - identities: Verifies tokens of an identity provider, if one is trusted.
    ///   - faults: The log. It never gets contents of records or tokens.
    ///   - clock: Milliseconds since 1970.
    ///   - gate: For tests: injects faults.
    /// - Throws: `DirectoryError.unavailable` when the store can't be read or written; NIOSSL's
    ///   error about certificate or key.
    package init(
        configuration: ServerConfiguration,
        store: Store,
        assetBytes: any AssetByteStore,
        tls: TLSMaterial,
        identities: IdentityTokens? = nil,
        faults: FaultLog,
        clock: @escaping @Sendable () -> Int64,
        gate: (any RequestGate)? = nil
    ) throws {
        self.tls = try ServedCertificate(tls)
        self.context = ServerContext(
            configuration: configuration,
            store: store,
            assetBytes: assetBytes,
            sealKey: try SealKey(of: store.directory),
            identities: identities,
            faults: faults,
            clock: clock,
            gate: gate
        )
    }

    /// Replaces the certificate of new connections; existing connections keep theirs.
    ///
    /// - Throws: NIOSSL's error about certificate or key; then the old ones stay.
    package func replaceCertificate(_ tls: TLSMaterial) throws {
        try self.tls.replace(tls)
    }

    /// When the certificate of new connections expires, in seconds since 1970.
    package var certificateEndSeconds: Int64 { self.tls.current.certificateEndSeconds }

    /// Changes how much users and containers may store.
    ///
    /// Clients that connect later get the new values.
    package func replaceQuotas(_ quotas: StorageQuotas) { self.context.store.quotas = quotas }

    package var phase: ServerPhase { self.currentPhase.load(ordering: .relaxed) }

    /// The highest number of bytes of responses held at any time, to judge the bounds by.
    package var heldBytesMost: Int { self.context.accounts.responses.most }

    /// All counts and measurements that need no look-up in the store.
    package var metrics: [Metric] {
        let uploads = self.context.uploadTurns.counts
        let quotas = self.context.store.quotas
        return self.context.metrics.readings + self.context.accounts.readings + self.context.router.readings
            + self.context.store.statistics.readings + self.context.store.condition.readings
            + self.context.store.load.figures.readings + [
                Metric(.uploadsReceiving, uploads.receiving), Metric(.uploadsWaiting, uploads.waiting),
                Metric(.userQuotaBytes, Double(quotas.userBytes)),
                Metric(.containerQuotaBytes, Double(quotas.containerBytes)),
            ]
    }

    /// The amounts that all containers store; empty if the store can't be read now.
    ///
    /// The duration grows with the number of databases.
    package func storageMetrics() async -> [Metric] {
        let directory = self.context.store.directory
        let amount = try? await NIOThreadPool.singleton.runIfActive { try directory.storedAmount() }
        return amount?.readings ?? []
    }

    /// Removes the assets that are due; returns when their files and rows are gone.
    ///
    /// The server also does so periodically.
    package func sweepAssets() async {
        await withCheckedContinuation { continuation in
            self.context.assetSweep.sweep { continuation.resume() }
        }
    }

    /// Ends the connections with a credential that the directory no longer admits; returns when
    /// they accept no further requests.
    ///
    /// The server also does so within a second of the change.
    package func endRevokedConnections() async {
        let loops = self.running.withLock { $0?.loops ?? [] }
        for loop in loops {
            let ended = loop.eventLoop.flatSubmit {
                EventLoopFuture.andAllComplete(
                    loop.context.value.openConnections.compactMap { $0.credential?.recheck() },
                    on: loop.eventLoop
                )
            }
            // The loop of a server that is stopping has no connections left.
            try? await ended.get()
        }
    }

    /// Starts to listen.
    ///
    /// - Parameter socket: The address to listen on; the configuration's, if `nil`.
    ///
    /// - Returns: The address, with the chosen port if the configured one was 0.
    ///
    /// - Throws: `BoundSocket.Failure`; `AssetStoreError`, if the storage of assets cannot be used.
    package func start(on socket: BoundSocket? = nil) async throws -> (host: String, port: Int) {
        let socket = try socket ?? BoundSocket(self.context.configuration.listen)
        try await self.context.assetBytes.start()
        let configuration = self.context.configuration
        let threads = configuration.threads ?? System.coreCount
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        do {
            self.context.signIns.start()
            self.context.schemaChecks.start()
            self.context.credentialWatch.threads.start()
            var loops: [ServedLoop] = []
            for (number, eventLoop) in group.makeIterator().enumerated() {
                let context = eventLoop.submit {
                    NIOLoopBound(LoopContext(number: number, eventLoop: eventLoop), eventLoop: eventLoop)
                }
                loops.append(ServedLoop(eventLoop: eventLoop, context: try await context.get()))
            }
            self.context.loops.serve(on: loops)
            self.startRouter(loops)
            let listener = try await self.listen(on: socket, group, loops: loops)
            let address = (
                listener.localAddress?.ipAddress ?? configuration.listen.host,
                listener.localAddress?.port ?? configuration.listen.port
            )
            self.running.withLock {
                $0 = Running(
                    group: group,
                    loops: loops,
                    listener: listener,
                    timers: [
                        self.startSweeps(on: group.next()),
                        self.startMakingRoom(on: group.next()),
                        self.startTouching(on: group.next()),
                        self.startCredentialWatch(on: group.next()),
                        self.startTellingFaults(on: group.next()),
                    ]
                )
            }
            self.currentPhase.store(.serving, ordering: .relaxed)
            self.context.logger.info(
                "listening",
                metadata: [
                    LogKeys.host: "\(address.0)", LogKeys.port: .stringConvertible(address.1),
                    LogKeys.threads: .stringConvertible(threads),
                ]
            )
            return address
        } catch {
            await self.context.router.stop(within: Self.routerStopMin)
            await self.context.assetBytes.shutdown()
            try await self.context.signIns.shutdown()
            try await self.context.schemaChecks.shutdown()
            try await self.context.credentialWatch.threads.shutdownGracefully()
            try await group.shutdownGracefully()
            throw error
        }
    }

    /// Stops: accepts no further connections, sends every client a `goaway`, answers requests in
    /// flight, and closes.
    ///
    /// Does nothing if the server is not running.
    ///
    /// - Parameter grace: Time after which connections are closed, even with requests in flight.
    package func shutdown(grace: Duration) async {
        let running = self.running.withLock { running in
            let taken = running
            running = nil
            return taken
        }
        guard let running else { return }
        let deadline = ContinuousClock.now + grace
        self.currentPhase.store(.draining, ordering: .relaxed)
        self.context.logger.info("draining")
        for timer in running.timers { timer.cancel() }
        // A listener that is already closed is fine.
        try? await running.listener.close().get()
        await self.door.drain()
        let whenNone = running.group.next().makePromise(of: Void.self)
        self.context.accounts.drain(whenNone: whenNone)
        self.onEachConnection { $0.drain() }
        let end = running.group.next().scheduleTask(in: TimeAmount(grace)) {
            self.onEachConnection { $0.connection.breakOff("closed at the end of the grace period") }
            self.door.breakOff()
        }
        try? await whenNone.futureResult.get()
        end.cancel()
        self.context.loops.serve(on: [])
        await self.context.router.stop(within: max(Self.routerStopMin, deadline - ContinuousClock.now))
        await self.context.assetBytes.shutdown()
        try? await self.context.signIns.shutdown()
        try? await self.context.schemaChecks.shutdown()
        try? await self.context.doorTurns.shutdown()
        try? await self.context.credentialWatch.threads.shutdownGracefully()
        try? await running.group.shutdownGracefully()
        self.currentPhase.store(.stopped, ordering: .relaxed)
        self.context.faults.end()
        self.context.logger.info("stopped")
    }

    private func startRouter(_ loops: [ServedLoop]) {
        let mailboxes = loops.map { loop in
            ListenerMailbox(eventLoop: loop.eventLoop) { loop.context.value.received($0) }
        }
        self.context.router.start(mailboxes: mailboxes)
    }

    private func onEachConnection(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
        self.context.loops.onEach { loop in
            for connection in loop.openConnections { body(connection) }
        }
    }

    private func listen(
        on socket: BoundSocket,
        _ group: MultiThreadedEventLoopGroup,
        loops: [ServedLoop]
    ) async throws -> any Channel {
        let context = self.context
        let certificate = self.tls
        let loopsByEventLoop = Dictionary(
            uniqueKeysWithValues: loops.map { (ObjectIdentifier($0.eventLoop), $0.context) }
        )
        let descriptor = socket.take()
        let listener = try await self.bootstrap(group)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                let network = RefusalPace.network(of: channel.remoteAddress)
                guard let (account, isRefused) = context.accept(from: network) else { return channel.close() }
                guard let loop = loopsByEventLoop[ObjectIdentifier(channel.eventLoop)] else {
                    preconditionFailure("a channel of a loop that is not the server's")
                }
                let tls = certificate.current
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        HandshakeTurn(turns: loop.value.handshakes, holder: account.holder),
                        TLSSetup.handler(tls.context),
                        ConnectionHandler(
                            Connection.Arrival(
                                number: context.takeConnectionNumber(),
                                network: network,
                                account: account,
                                isRefused: isRefused,
                                certificateHash: tls.certificateHash
                            ),
                            server: context,
                            loop: loop.value,
                            eventLoop: channel.eventLoop
                        )
                    )
                }
            }
            .withBoundSocket(descriptor)
            .get()
        socket.restoreBacklog(of: descriptor)
        return listener
    }

    /// What listeners of all protocols have in common.
    func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        let context = self.context
        return ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptPause { error in
                            context.faults.tell(
                                "connections wait: the system has no room for another",
                                level: .warning,
                                metadata: [LogKeys.errno: .stringConvertible(error.errnoCode)]
                            )
                        }
                    )
                }
            }
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 1_024, initial: 2_048, maximum: 65_536)
            )
            .childChannelOption(
                .writeBufferWaterMark,
                value: ChannelOptions.Types.WriteBufferWaterMark(low: 64 * 1_024, high: 256 * 1_024)
            )
    }

    private func startCredentialWatch(on eventLoop: any EventLoop) -> RepeatedTask {
        let context = self.context
        let interval = CredentialWatch.interval
        return eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            context.credentialWatch.look { users in
                context.loops.onEach { loop in
                    for connection in loop.openConnections { connection.credential?.changed(of: users) }
                }
            }
            guard context.credentialWatch.hasExpiring else { return }
            let now = context.clock()
            context.loops.onEach { $0.endExpired(nowMilliseconds: now) }
        }
    }

    private func startTellingFaults(on eventLoop: any EventLoop) -> RepeatedTask {
        let faults = self.context.faults
        return eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            faults.look()
        }
    }

    private func startSweeps(on eventLoop: any EventLoop) -> RepeatedTask {
        let sweep = self.context.assetSweep
        let interval = TimeAmount(self.context.configuration.assets.sweepInterval)
        return eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { _ in sweep.sweep() }
    }

    /// Sweeps repeatedly while the disk is full.
    private func startMakingRoom(on eventLoop: any EventLoop) -> RepeatedTask {
        let context = self.context
        let interval = AssetSweep.pressedInterval
        return eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            if context.store.condition == .full { context.assetSweep.makeRoom() }
        }
    }

    private func startTouching(on eventLoop: any EventLoop) -> RepeatedTask {
        let assets = self.context.store.assets
        return eventLoop.scheduleRepeatedTask(initialDelay: .minutes(1), delay: .minutes(1)) { _ in
            assets.touchOpen()
        }
    }
}
