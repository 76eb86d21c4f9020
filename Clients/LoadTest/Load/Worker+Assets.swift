import Foundation
import RecordClient
import RecordModel
import Synchronization
import SystemCrypto
import WireProtocol

/// Files, and the records that name them.
extension Worker {
    /// Larger files are hashed on a thread of their own.
    private static let quickHashBytesMax = 65_536

    /// Uploads a file, then saves its record.
    func upload(_ bytes: AssetBytes, _ key: Int, _ call: Call) {
        let size = self.settings.assetBytes
        guard size > Self.quickHashBytesMax else {
            return self.upload(bytes, bytes.asset(size: size), key, call)
        }
        Thread.detachNewThread { self.upload(bytes, bytes.asset(size: size), key, call) }
    }

    private func upload(_ bytes: AssetBytes, _ asset: Asset, _ key: Int, _ call: Call) {
        let upload = AssetUpload(scope: .private, assets: [asset]) { _, offset, memory throws(FileFailure) in
            bytes.fill(memory, from: offset)
        }
        self.client.start(
            upload,
            requestTimeout: self.settings.timeout,
            resourceTimeout: self.settings.timeout
        ) { error in
            if let error {
                self.state.withLock { $0.keys.ended(key, .notWritten) }
                return self.failed(call, FailureReason.text(error))
            }
            let save = self.state.withLock { self.recordSave(key, asset: asset, &$0) }
            self.client.start(
                Self.modify([save]),
                requestTimeout: self.settings.timeout,
                resourceTimeout: self.settings.timeout,
                items: { call.received($0) },
                end: { self.uploaded(asset, key, call, $0) }
            )
        }
    }

    /// Handles the result of the save of the record that names the file.
    private func uploaded(_ asset: Asset, _ key: Int, _ call: Call, _ result: Result<End, ClientError>) {
        let now = ContinuousClock.now
        // No download may start before it is known which file the record names.
        let failure = self.settle([key], call.takeItems(), result, isAwaited: true)
        self.state.withLock { state in
            state.assets[key] = failure == nil ? asset : nil
            if failure == nil { state.keys.ended(key, .notWritten) }
        }
        if let failure {
            self.failed(call, failure)
        } else {
            self.succeeded(call, at: now, records: 1)
        }
    }

    /// Downloads the file of a record and compares it with the uploaded one.
    func download(_ asset: Asset, _ key: Int, _ call: Call) {
        let hash = Mutex(SHA256())
        let id = self.state.withLock { self.settings.layout.recordID(key, in: $0.keys) }
        let download = AssetDownload(
            scope: .private,
            record: id,
            parts: [AssetDownload.Part(asset, 0..<asset.size)]
        ) { _, _, pieces throws(FileFailure) in
            hash.withLock { hash in for piece in pieces { hash.add(piece) } }
        }
        self.client.start(
            download,
            requestTimeout: self.settings.timeout,
            resourceTimeout: self.settings.timeout
        ) { error in
            self.state.withLock { $0.keys.ended(key, .notWritten) }
            if let error { return self.failed(call, FailureReason.text(error)) }
            guard hash.withLock({ $0.value }) == asset.sha256 else {
                self.note(
                    Violation(
                        kind: .spoilt,
                        zone: id.zone.zoneName,
                        recordName: id.recordName,
                        expected: "\(asset.size) bytes that were uploaded",
                        found: "others",
                        reading: "download"
                    )
                )
                return self.failed(call, "other bytes")
            }
            self.succeeded(call, at: .now, records: 1)
        }
    }
}
