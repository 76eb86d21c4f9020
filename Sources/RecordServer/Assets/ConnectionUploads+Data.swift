import AssetStore
import FileIO
import NIOCore
import RecordModel
import RecordStore
import Transport
import WireProtocol

// Bytes of an upload: from the frame to the disk.
extension ConnectionUploads {
    /// The time after which waiting bytes are written.
    private static let batchInterval = TimeAmount.milliseconds(1)

    /// Bytes came on a stream, within what was granted to it.
    func received(_ data: AssetData, payloadBytes: Int, on stream: UInt32) {
        guard let upload = self[stream] else { return }
        let bytes = AssetBytes(
            item: data.item,
            offset: data.offset,
            bytes: data.bytes,
            payloadBytes: payloadBytes
        )
        switch upload.machine.received(bytes, now: self.now) {
        case .write(let write): self.write(write, of: upload)
        case .schedule: self.scheduleWrite(of: upload)
        case .keep: break
        case .refuse(let item): return self.end(stream, failure: .assetDataOutOfPlace(item: item))
        case .ignore: return
        }
        self.server.metrics.assetBytesReceived(data.bytes.readableBytes)
    }

    /// The results of the steps of a batch, from its lane.
    private struct Written: Sendable {
        enum Fault: Sendable {
            case failed(AssetStoreError)
            /// The bytes are not those of the hash.
            case differs
        }

        var payloadBytes: Int
        /// Memory of bytes that are written, to be used again.
        var pieces: [ByteBuffer] = []
        /// Items, and how many of their bytes are on disk.
        var durable: [(item: Int, bytes: Int64)] = []
        /// An item of which enough was written to be made durable.
        var due: Int?
        var fault: (item: Int, Fault)?
    }

    private func scheduleWrite(of upload: Upload) {
        self.connection.eventLoop.assumeIsolated().scheduleTask(in: Self.batchInterval) {
            guard let write = upload.machine.writeDue(now: self.now) else { return }
            self.write(write, of: upload)
        }
    }

    /// Hands what came to the lane.
    func write(_ write: UploadStateMachine.Write, of upload: Upload) {
        let registry = self.server.store.assets
        for number in write.touches { registry.touch(number) }
        let files = upload.files
        let back = LoopReturn(self, of: self.connection)
        let stream = upload.stream
        upload.lane.submit {
            let written = Self.execute(write, files) { item, number in
                registry.complete(number) { result in back { $0.assetCompleted(stream, item, result) } }
            }
            back { $0.written(stream, written) }
        }
    }

    private static func execute(
        _ write: UploadStateMachine.Write,
        _ files: [UploadFile?],
        complete: (Int, AssetNumber) -> Void
    ) -> Written {
        var written = Written(payloadBytes: write.batch.payloadBytes)
        for step in write.batch.steps {
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
                    written.due = file.wantsToBeDurable(isDue: write.isDurabilityDue) ? item : nil
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

    private func written(_ stream: UInt32, _ written: Written) {
        for piece in written.pieces { self.server.assetBuffers.giveBack(piece) }
        guard let upload = self[stream] else { return }
        if let (item, fault) = written.fault {
            upload.machine.writeFailed()
            switch fault {
            case .failed(let error): self.fileFailed(upload, error, item: item)
            case .differs: self.contentsDiffer(upload, item: item)
            }
            return
        }
        let action = upload.machine.written(
            durable: written.durable,
            due: written.due,
            now: self.now
        )
        guard let action else { return }
        if action.grants { self.grant(written.payloadBytes, of: upload) }
        if let item = action.syncs { self.makeDurable(upload, item: item) }
        self.tell(action.tells, on: stream)
        if let write = action.writes { self.write(write, of: upload) }
    }

    /// Bytes that are written make room for more.
    private func grant(_ payloadBytes: Int, of upload: Upload) {
        let wasClosed = !self.connection.machine.mayReceiveAssetData(on: upload.stream)
        let grant = self.connection.machine.assetBytesDisposed(
            payloadBytes,
            on: upload.stream,
            window: self.server.uploadWindowBytes(isAlone: self.now >= self.connection.busyUntil)
        )
        guard grant > 0 else { return }
        if wasClosed { upload.machine.windowOpened(now: self.now) }
        self.connection.writeCredit(grant, on: upload.stream)
    }

    private func makeDurable(_ upload: Upload, item: Int) {
        guard let file = upload.files[item] else {
            preconditionFailure("an asset without a file was written")
        }
        let back = LoopReturn(self, of: self.connection)
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
        guard let upload = self[stream] else { return }
        switch result {
        case .failure(let error):
            upload.machine.syncFailed()
            self.fileFailed(upload, error, item: item)
        case .success(let durable):
            let action = upload.machine.becameDurable(
                item: item,
                bytes: durable.bytes,
                isMoreDue: durable.isMoreDue,
                now: self.now
            )
            self.tell(action?.tells, on: stream)
            if action?.syncsAgain == true { self.makeDurable(upload, item: item) }
        }
    }

    private func assetCompleted(_ stream: UInt32, _ item: Int, _ result: Result<Void, StoreError>) {
        guard let upload = self[stream] else { return }
        switch result {
        case .failure(let error):
            self.end(stream, failure: Failure(asset: error, item: item))
        case .success:
            self.server.metrics.assetStored()
            switch upload.machine.completed(item: item, now: self.now) {
            case .finish: self.done(upload)
            case .tell(let told): self.tell(told, on: stream)
            case .ignore: break
            }
        }
    }

    private func contentsDiffer(_ upload: Upload, item: Int) {
        if let number = upload.files[item]?.number { self.server.store.assets.abandon(number) }
        self.end(upload.stream, failure: .assetDiffers(item: item))
    }

    private func tell(_ told: UploadStateMachine.Told?, on stream: UInt32) {
        guard let told else { return }
        self.connection.writeProgress(told.doneBytes, of: told.totalBytes, on: stream)
    }
}
