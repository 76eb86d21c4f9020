import AssetStorage
import Logging
import NIOCore
import RecordModel
import RecordStore
import StorageContract
import Transport
import WireProtocol

/// The uploads of a connection: carries out the decisions of their state machines.
///
/// This file covers an upload until the client may send, and its end. Used on the connection's
/// event loop.
final class ConnectionUploads {
    /// Window of an upload until its first bytes arrive; then it gets its full share.
    private static let firstWindowBytesMax: UInt32 = 512 * 1_024

    let connection: Connection
    let server: ServerContext
    private let responses: ConnectionResponses
    private var uploads = StreamTable<Upload>()

    init(_ connection: Connection, server: ServerContext, responses: ConnectionResponses) {
        self.connection = connection
        self.server = server
        self.responses = responses
    }

    /// `nil` if the stream is no active upload.
    subscript(stream: UInt32) -> Upload? { self.uploads[stream] }

    var now: NIODeadline { self.connection.eventLoop.now }

    /// Executes a request.
    func start(_ request: AdmittedUpload, for response: Response) {
        guard !self.connection.machine.isDraining else {
            return self.responses.end(response.stream, failure: Failure(StoreError.shuttingDown))
        }
        let upload = Upload(request, for: response)
        self.uploads[upload.stream] = upload
        self.watch(upload, in: self.timeLeft(of: upload))
        self.begin(upload)
    }

    // MARK: - Ends

    /// Ends an upload; does nothing if the stream has none.
    func end(_ stream: UInt32, failure: Failure?) {
        guard let upload = self.uploads.removeValue(of: stream) else { return }
        self.release(upload)
        self.responses.finish(stream, with: failure.map { End(failure: $0) } ?? End())
    }

    /// Ends all uploads: durable bytes stay for the next connection.
    func endAll(failure: Failure) {
        for upload in self.uploads.values { self.end(upload.stream, failure: failure) }
    }

    /// Closes all uploads and releases their turns after the connection has closed.
    func removeAll() {
        let uploads = self.uploads
        self.uploads = StreamTable()
        for upload in uploads.values { self.release(upload) }
    }

    /// Closes the files of an upload, then releases its assets to other uploads.
    private func release(_ upload: Upload) {
        upload.timer?.cancel()
        let registry = self.server.store.assets
        let turns = self.server.uploadTurns
        let end = upload.machine.ended()
        for number in end.touches { registry.touch(number) }
        guard end.ticket != nil || !end.numbers.isEmpty else { return }
        let release: @Sendable () -> Void = {
            if let ticket = end.ticket { turns.end(ticket) }
            registry.release(end.numbers)
        }
        guard let bytes = upload.bytes else { return release() }
        // Bytes that arrived and were not appended need not be sent again.
        bytes.close(after: end.batch.steps, reply: release)
    }

    // MARK: - Until the client may send

    private func begin(_ upload: Upload) {
        let back = LoopReturn(self, of: self.connection)
        let stream = upload.stream
        let registry = self.server.store.assets
        let request = upload.request
        registry.begin(request.assets, in: request.zone, for: request.requester) { result in
            back { $0.begun(stream, result, by: registry) }
        }
    }

    private func begun(
        _ stream: UInt32,
        _ result: Result<[UploadStatus], StoreError>,
        by registry: AssetRegistry
    ) {
        guard let upload = self.uploads[stream] else {
            // The upload has ended meanwhile: release the assets that were opened for it.
            if case .success(let statuses) = result { registry.release(statuses.compactMap(\.number)) }
            return
        }
        switch result {
        case .failure(let error):
            self.end(stream, failure: Failure(asset: error))
        case .success(let statuses):
            switch upload.machine.begun(statuses, now: self.now) {
            case .recover(let releasing):
                registry.release(releasing)
                self.recover(upload, statuses)
            case .complete:
                self.recovered(stream, .success(upload.request.assets.map(\.size)))
            case .ask(let numbers, let ticket, let releasing):
                registry.release(releasing)
                if let ticket { self.server.uploadTurns.end(ticket) }
                self.askForTurn(upload, numbers, statuses)
            }
        }
    }

    private func askForTurn(_ upload: Upload, _ numbers: [AssetNumber], _ statuses: [UploadStatus]) {
        let back = LoopReturn(self, of: self.connection)
        let stream = upload.stream
        let (ticket, isNow) = self.server.uploadTurns.ask(numbers) { message in
            back { $0.received(message, stream) }
        }
        switch upload.machine.turnAsked(ticket, isNow: isNow) {
        case .recover: self.recover(upload, statuses)
        case .tellThatItLives: self.tellThatItLives(upload)
        }
    }

    private func received(_ message: UploadTurns.Message, _ stream: UInt32) {
        guard let upload = self.uploads[stream] else { return }
        switch message {
        case .begin:
            upload.machine.turnCame()
            self.begin(upload)
        case .contested:
            switch upload.machine.contested() {
            case .look: self.watch(upload, in: .zero)
            case .ignore: break
            }
        }
    }

    private func recover(_ upload: Upload, _ statuses: [UploadStatus]) {
        // Most assets are new, so no upload needs to wait for recovered bytes.
        self.watch(upload, in: TimeAmount(self.server.configuration.assets.lifeInterval))
        upload.items = zip(statuses, upload.request.assets).map { status, asset in
            UploadItem(number: status.number, asset: asset)
        }
        let bytes = self.server.assetBytes.upload(upload.items)
        upload.bytes = bytes
        let back = LoopReturn(self, of: self.connection)
        let stream = upload.stream
        let found = upload.found
        bytes.recover(progress: { found.set($0) }) { result in
            back { $0.recovered(stream, result) }
        }
    }

    /// Sends the recovered offsets to the client, which may then send the rest.
    private func recovered(_ stream: UInt32, _ result: Result<[Int64], UploadFailure>) {
        guard let upload = self.uploads[stream] else { return }
        switch result {
        case .failure(let failed):
            self.failed(upload, failed)
        case .success(let offsets):
            upload.timer?.cancel()
            let frame = AssetOffsets(offsets: offsets).encoded()
            self.connection.write(Frame(kind: .assetOffsets, stream: stream, payload: frame))
            let assets = upload.request.assets
            switch upload.machine.recovered(offsets, of: assets, now: self.now) {
            case .finish:
                self.done(upload)
            case .receive(let wantsBytes, let isContested, let write):
                if wantsBytes { self.letSend(upload, isContested: isContested) }
                if let write { self.write(write, of: upload) }
            }
        }
    }

    /// Lets the client send the first bytes.
    private func letSend(_ upload: Upload, isContested: Bool) {
        let window = min(self.server.uploadWindowBytes(isAlone: false), Self.firstWindowBytesMax)
        self.connection.machine.uploadGranted(upload.stream, bytes: window)
        self.connection.writeCredit(window, on: upload.stream)
        self.watch(upload, in: isContested ? .zero : self.silence.longest(isContested: false))
    }

    /// All assets are on disk and may be referenced.
    func done(_ upload: Upload) {
        let total = upload.request.totalBytes
        self.connection.writeProgress(total, of: total, on: upload.stream)
        self.end(upload.stream, failure: nil)
    }

    func failed(_ upload: Upload, _ failed: UploadFailure) {
        switch failed.reason {
        case .failed(let error): self.failed(upload, error, item: failed.item)
        case .differs:
            if let number = upload.items[failed.item].number { self.server.store.assets.abandon(number) }
            self.end(upload.stream, failure: .assetDiffers(item: failed.item))
        }
    }

    func failed(_ upload: Upload, _ error: AssetStoreError, item: Int) {
        if error == .busy {
            self.server.logger.debug(
                "another server has an upload of the same asset",
                metadata: self.metadata(on: upload.stream, [:])
            )
        } else {
            self.server.faults.tell(
                "a file of an asset cannot be written",
                about: "\(error)",
                metadata: self.metadata(on: upload.stream, [LogKeys.error: "\(error)"])
            )
        }
        if error == .full { self.server.assetSweep.makeRoom() }
        let failure = Failure(error, item: item)
        switch upload.machine.fileFailed(item: item, isDiskFull: error == .full) {
        case .giveUp: self.giveUp(upload, item, failure)
        case .fail: self.end(upload.stream, failure: failure)
        case .ignore: break
        }
    }

    private func metadata(on stream: UInt32, _ others: Logger.Metadata) -> Logger.Metadata {
        (self.responses[stream]?.label ?? RequestLabel(stream: stream))
            .metadata(of: self.connection.label, others)
    }

    /// Removes the partial asset that did not fit on the disk, as other uploads need the space.
    private func giveUp(_ upload: Upload, _ item: Int, _ failure: Failure) {
        guard let bytes = upload.bytes, let number = upload.items[item].number else {
            preconditionFailure("an asset failed that has nothing to send")
        }
        let registry = self.server.store.assets
        let back = LoopReturn(self, of: self.connection)
        let stream = upload.stream
        bytes.discard(item) {
            registry.abandon(number)
            back { $0.end(stream, failure: failure) }
        }
    }

    // MARK: - Time

    private var silence: UploadStateMachine.Silence {
        let assets = self.server.configuration.assets
        return UploadStateMachine.Silence(
            max: TimeAmount(assets.timeout),
            contestedMax: TimeAmount(assets.contestedTimeout)
        )
    }

    /// Sends the number of bytes found so far.
    ///
    /// Repeats after an interval unless the client may send by then.
    private func tellThatItLives(_ upload: Upload) {
        self.connection.writeProgress(upload.found.bytes, of: upload.request.totalBytes, on: upload.stream)
        self.watch(upload, in: TimeAmount(self.server.configuration.assets.lifeInterval))
    }

    /// Time until the deadline by the server's clock, at least a moment: clocks of tests may stand
    /// still.
    private func timeLeft(of upload: Upload) -> TimeAmount {
        // The clock may have been set back by any amount.
        let left = upload.deadlineMilliseconds - self.server.clock()
        return .milliseconds(min(max(left, 10), self.server.deadlineMillisecondsMax))
    }

    /// Checks after a delay whether the upload has timed out.
    private func watch(_ upload: Upload, in delay: TimeAmount) {
        upload.timer?.cancel()
        let stream = upload.stream
        upload.timer = self.connection.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.look(stream)
            self.connection.flush()
        }
    }

    private func look(_ stream: UInt32) {
        guard let upload = self.uploads[stream] else { return }
        let action = upload.machine.timerFired(
            now: self.now,
            mayReceive: self.connection.machine.mayReceiveAssetData(on: stream),
            silence: self.silence
        )
        switch action {
        case .lookAtDeadline:
            guard self.server.clock() >= upload.deadlineMilliseconds else {
                return self.watch(upload, in: self.timeLeft(of: upload))
            }
            self.end(stream, failure: Failure(StoreError.deadlinePassed))
        case .tellThatItLives:
            self.tellThatItLives(upload)
        case .look(let delay):
            self.watch(upload, in: delay)
        case .fail(let isContested):
            self.end(stream, failure: isContested ? .uploadTakenOver : .transferTimeout)
        case .ignore:
            break
        }
    }
}
