import AssetStorage
import FileIO
import NIOCore
import RecordModel
import RecordStore
import StorageContract
import Transport
import WireProtocol

// Bytes of an upload: from the frame to the disk.
extension ConnectionUploads {
    /// The time after which waiting bytes are written.
    private static let batchInterval = TimeAmount.milliseconds(1)

    /// Bytes arrived on a stream, within its window.
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

    private func scheduleWrite(of upload: Upload) {
        self.connection.eventLoop.assumeIsolated().scheduleTask(in: Self.batchInterval) {
            guard let write = upload.machine.writeDue(now: self.now) else { return }
            self.write(write, of: upload)
        }
    }

    /// Hands bytes to the storage of assets.
    func write(_ write: UploadStateMachine.Write, of upload: Upload) {
        guard let bytes = upload.bytes else {
            preconditionFailure("bytes of an upload that has nothing to send")
        }
        let registry = self.server.store.assets
        for number in write.touches { registry.touch(number) }
        let items = upload.items
        let back = LoopReturn(self, of: self.connection)
        let stream = upload.stream
        bytes.execute(write.batch.steps, isSyncDue: write.isDurabilityDue) { event in
            switch event {
            case .finished(let item):
                guard let number = items[item].number else { return }
                registry.complete(number) { result in back { $0.assetCompleted(stream, item, result) } }
            case .executed(let outcome):
                back { $0.executed(write.batch, outcome, on: stream) }
            }
        }
    }

    private func executed(_ batch: UploadBatch, _ outcome: UploadOutcome, on stream: UInt32) {
        self.reuseMemory(of: batch)
        guard let upload = self[stream] else { return }
        if let failure = outcome.failure {
            upload.machine.writeFailed()
            return self.failed(upload, failure)
        }
        let action = upload.machine.written(
            durable: outcome.durable,
            due: outcome.syncDue,
            now: self.now
        )
        guard let action else { return }
        if action.grants { self.grant(batch.payloadBytes, of: upload) }
        if let item = action.syncs { self.makeDurable(upload, item: item) }
        self.send(action.report, on: stream)
        if let write = action.writes { self.write(write, of: upload) }
    }

    private func reuseMemory(of batch: UploadBatch) {
        for case .append(_, let pieces) in batch.steps {
            for piece in pieces { self.server.assetBuffers.giveBack(piece) }
        }
    }

    /// Grants credit for bytes that were written.
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
        guard let bytes = upload.bytes else {
            preconditionFailure("a sync of an upload that has nothing to send")
        }
        let back = LoopReturn(self, of: self.connection)
        let stream = upload.stream
        bytes.sync(item) { result in
            back { $0.becameDurable(stream, item, result) }
        }
    }

    private func becameDurable(
        _ stream: UInt32,
        _ item: Int,
        _ result: Result<UploadDurability, AssetStoreError>
    ) {
        guard let upload = self[stream] else { return }
        switch result {
        case .failure(let error):
            upload.machine.syncFailed()
            self.failed(upload, error, item: item)
        case .success(let durable):
            let action = upload.machine.becameDurable(
                item: item,
                bytes: durable.bytes,
                isMoreDue: durable.isMoreDue,
                now: self.now
            )
            self.send(action?.report, on: stream)
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
            case .report(let report): self.send(report, on: stream)
            case .ignore: break
            }
        }
    }

    private func send(_ report: UploadStateMachine.ProgressReport?, on stream: UInt32) {
        guard let report else { return }
        self.connection.writeProgress(report.doneBytes, of: report.totalBytes, on: stream)
    }
}
