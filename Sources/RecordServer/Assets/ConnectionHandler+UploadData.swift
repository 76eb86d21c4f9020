import AssetStore
import NIOCore
import RecordModel
import RecordStore
import Transport
import WireProtocol

// Bytes of an upload: from the frame to the disk.
extension ConnectionHandler {
    /// Bytes become durable at least so often, if there are enough: a slow client sees how far it is.
    private static let durableInterval = TimeAmount.seconds(1)
    private static let touchInterval = TimeAmount.seconds(60)

    func assetDataReceived(_ data: AssetData, on stream: UInt32) {
        let payloadBytes = AssetData.headerBytes + data.bytes.readableBytes
        switch self.machine.assetDataReceived(stream, payloadBytes: payloadBytes) {
        case .close(let reason): return self.close(reason, detail: "asset_data")
        case .ignore: return
        case .accept: break
        }
        guard let upload = self.transfers?.uploads[stream] else { return }
        let action = upload.progress?.received(
            item: data.item,
            offset: data.offset,
            count: data.bytes.readableBytes
        )
        switch action {
        case .refuse(let item)?:
            self.endTransfer(stream, failure: .assetDataOutOfPlace(item: item))
        case .write(let item, let isLast)?:
            upload.add(data.bytes, item: item)
            if isLast { upload.steps.append(.finish(item: item)) }
            upload.payloadBytes += payloadBytes
            upload.heardAt = self.eventLoop.now
            self.server.metrics.assetBytesReceived(data.bytes.readableBytes)
            self.writeStepsWhenWorthIt(of: upload, isLast: isLast)
        case nil:
            break
        }
    }

    /// What a lane has done with the steps that it was given.
    private struct Written: Sendable {
        enum Fault: Sendable {
            case failed(AssetStoreError)
            /// The bytes are not those of the hash.
            case differs
        }

        var payloadBytes: Int
        /// What was written: memory to be used again.
        var pieces: [ByteBuffer] = []
        /// Items, and how many of their bytes are on disk.
        var durable: [(item: Int, bytes: Int64)] = []
        /// An item of which enough was written to be made durable.
        var due: Int?
        var fault: (item: Int, Fault)?
    }

    /// Many bytes are written for the price of few: so some wait for those that come at once.
    private func writeStepsWhenWorthIt(of upload: Upload, isLast: Bool) {
        guard !upload.isWriting else { return }
        guard !isLast, upload.payloadBytes < Self.batchBytes else { return self.writeSteps(of: upload) }
        guard !upload.isWriteScheduled else { return }
        upload.isWriteScheduled = true
        self.eventLoop.assumeIsolated().scheduleTask(in: Self.batchInterval) {
            upload.isWriteScheduled = false
            self.writeSteps(of: upload)
        }
    }

    private static let batchBytes = 512 * 1_024
    private static let batchInterval = TimeAmount.milliseconds(1)

    /// Hands what came to the lane, unless it is busy: then what comes meanwhile goes together.
    func writeSteps(of upload: Upload) {
        guard !upload.isWriting, !upload.steps.isEmpty else { return }
        upload.isWriting = true
        let isDue = self.eventLoop.now - upload.durableAt >= Self.durableInterval
        let steps = upload.steps
        let files = upload.files
        let payloadBytes = upload.payloadBytes
        upload.steps = []
        upload.payloadBytes = 0
        self.touch(upload, at: self.eventLoop.now)
        let back = LoopReturn(self)
        let stream = upload.stream
        let registry = self.server.store.assets
        upload.lane.submit {
            let written = Self.execute(steps, files, isDue: isDue, payloadBytes: payloadBytes) {
                item,
                number in
                registry.complete(number) { result in back { $0.assetCompleted(stream, item, result) } }
            }
            back { $0.stepsWritten(stream, written) }
        }
    }

    private static func execute(
        _ steps: [Upload.Step],
        _ files: [UploadFile?],
        isDue: Bool,
        payloadBytes: Int,
        complete: (Int, AssetNumber) -> Void
    ) -> Written {
        var written = Written(payloadBytes: payloadBytes)
        for step in steps {
            let item =
                switch step {
                case .write(let item, _), .finish(let item): item
                }
            guard let file = files[item] else { continue }
            do throws(AssetStoreError) {
                switch step {
                case .write(_, let pieces):
                    written.durable.append((item, try file.append(pieces)))
                    written.pieces += pieces
                    written.due = file.wantsToBeDurable(isDue: isDue) ? item : nil
                case .finish:
                    guard try file.finish() == .complete else {
                        written.fault = (item, .differs)
                        return written
                    }
                    complete(item, file.number)
                }
            } catch {
                written.fault = (item, .failed(error))
                return written
            }
        }
        return written
    }

    private func stepsWritten(_ stream: UInt32, _ written: Written) {
        for piece in written.pieces { self.server.assetBuffers.giveBack(piece) }
        guard let upload = self.transfers?.uploads[stream] else { return }
        upload.isWriting = false
        if let (item, fault) = written.fault {
            // They were to come behind what is not there.
            upload.steps = []
            switch fault {
            case .failed(let error): self.fileFailed(upload, error, item: item)
            case .differs: self.contentsDiffer(upload, item: item)
            }
            return
        }
        for (item, bytes) in written.durable { upload.progress?.becameDurable(item: item, bytes: bytes) }
        if upload.progress?.wantsBytes == true { self.grant(written.payloadBytes, of: upload) }
        if let item = written.due { self.makeDurable(upload, item: item) }
        if !written.durable.isEmpty { self.tellProgress(of: upload) }
        self.writeSteps(of: upload)
    }

    /// What was written makes room for more.
    private func grant(_ payloadBytes: Int, of upload: Upload) {
        let wasClosed = !self.machine.mayReceiveAssetData(on: upload.stream)
        let grant = self.machine.assetBytesDisposed(
            payloadBytes,
            on: upload.stream,
            window: self.server.uploadWindowBytes(isAlone: self.eventLoop.now >= self.busyUntil)
        )
        guard grant > 0 else { return }
        if wasClosed { upload.heardAt = self.eventLoop.now }
        self.write(Frame(kind: .credit, stream: upload.stream, payload: Credit(bytes: grant).encoded()))
    }

    /// Makes what was written durable, unless that is being done: bytes go on coming meanwhile.
    private func makeDurable(_ upload: Upload, item: Int) {
        guard !upload.isSyncing, let file = upload.files[item] else { return }
        upload.isSyncing = true
        upload.durableAt = self.eventLoop.now
        let back = LoopReturn(self)
        let stream = upload.stream
        self.server.files.makeDurable(file) { result in
            back { $0.becameDurable(stream, item, result) }
        }
    }

    private func becameDurable(
        _ stream: UInt32,
        _ item: Int,
        _ result: Result<AssetStore.Durable, AssetStoreError>
    ) {
        guard let upload = self.transfers?.uploads[stream] else { return }
        upload.isSyncing = false
        switch result {
        case .failure(let error):
            self.fileFailed(upload, error, item: item)
        case .success(let durable):
            upload.progress?.becameDurable(item: item, bytes: durable.bytes)
            self.tellProgress(of: upload)
            if durable.isMoreDue { self.makeDurable(upload, item: item) }
        }
    }

    private func assetCompleted(_ stream: UInt32, _ item: Int, _ result: Result<Void, StoreError>) {
        guard let upload = self.transfers?.uploads[stream] else { return }
        switch result {
        case .failure(let error):
            self.endTransfer(stream, failure: Failure(asset: error, item: item))
        case .success:
            self.server.metrics.assetStored()
            if upload.progress?.completed(item: item) == true {
                self.uploadDone(upload)
            } else {
                self.tellProgress(of: upload)
            }
        }
    }

    private func contentsDiffer(_ upload: Upload, item: Int) {
        if let number = upload.files[item]?.number { self.server.store.assets.abandon(number) }
        self.endTransfer(upload.stream, failure: .assetDiffers(item: item))
    }

    private func tellProgress(of upload: Upload) {
        guard let progress = upload.progress, progress.durableBytes > upload.toldBytes,
            upload.pace.isDue(at: self.eventLoop.now)
        else { return }
        upload.toldBytes = progress.durableBytes
        self.writeProgress(progress.durableBytes, of: progress.totalBytes, on: upload.stream)
    }

    private func touch(_ upload: Upload, at now: NIODeadline) {
        guard now - upload.touchedAt >= Self.touchInterval else { return }
        upload.touchedAt = now
        self.touch(upload)
    }

    /// The registry hears that bytes came.
    func touch(_ upload: Upload) {
        guard let progress = upload.progress else { return }
        for (item, place) in upload.places.enumerated() where progress.isIncomplete(item: item) {
            if case .incomplete(let number) = place { self.server.store.assets.touch(number) }
        }
    }
}
