package import NIOCore
package import RecordModel
package import StorageContract

/// The bytes of some assets during their upload, in the order in which a client sends them.
///
///     recover ─► execute… ─► close
///                sync…
///
/// Steps come after the reply to `recover`. `close` may come at any time; later calls, and a
/// `recover` that it interrupts, fail with `ended`. The `recover` of a later upload finds durable
/// bytes, after a crash too.
///
/// - Order: Calls are executed one at a time, in order. Only `sync` is executed beside the others:
///   bytes are received and hashed while earlier ones become durable.
///
/// - Threads: as in `AssetByteStore`.
package protocol AssetUpload: AnyObject, Sendable {
    /// Finds the bytes of earlier uploads: for each item the intact ones from the beginning.
    ///
    /// Called once. Reads and hashes existing bytes, so it may take a while; other uploads have
    /// their turns meanwhile.
    ///
    /// - Parameters:
    ///   - progress: Gets the number of bytes found so far, of all items together; never fewer than
    ///     before. Called any number of times before `reply`.
    ///   - reply: Gets the offset of the first missing byte of each item; without a number, its
    ///     size. The failure is `full` if the rest of an item does not fit.
    func recover(
        progress: @escaping @Sendable (Int64) -> Void,
        reply: @escaping @Sendable (Result<[Int64], UploadFailure>) -> Void
    )

    /// Executes steps in their order, up to one that fails.
    ///
    /// The bytes of an item follow those that were recovered or appended before, and none is beyond
    /// the asset's size. After a failed append they would be at the wrong offset, so an item
    /// accepts no more: that fails with `ended`.
    ///
    /// A conformer may retain the buffers: their memory is reused after their last reference. It
    /// delays its reply when more bytes than its bound are not durable.
    ///
    /// - Parameters:
    ///   - steps: The received bytes and ends of items.
    ///   - isSyncDue: Whether a while has passed since the last sync, so that fewer bytes are worth
    ///     one.
    ///   - reply: Gets `finished` for each item that was finished, before the next step is
    ///     executed. Then it gets `executed`, once.
    func execute(
        _ steps: [UploadStep],
        isSyncDue: Bool,
        reply: @escaping @Sendable (UploadEvent) -> Void
    )

    /// Makes the appended bytes of an item durable, as far as a later upload can find them.
    ///
    /// The caller makes this call when `executed` or the reply to another one says that it is due,
    /// one at a time. A conformer may sync earlier. Does nothing once the item has ended.
    func sync(
        _ item: Int,
        reply: @escaping @Sendable (Result<UploadDurability, AssetStoreError>) -> Void
    )

    /// Ends an item and removes its bytes, as far as possible.
    func discard(_ item: Int, reply: @escaping @Sendable () -> Void)

    /// Appends the last bytes, as far as possible, and ends all items.
    ///
    /// Neither a `finish` among the steps nor later steps are executed. Keeps the bytes of an item
    /// that has not ended, if a sync is worth its cost.
    func close(after steps: [UploadStep], reply: @escaping @Sendable () -> Void)
}

/// An asset of an upload.
package struct UploadItem: Hashable, Sendable {
    /// `nil` if nothing of it needs to be sent.
    package var number: AssetNumber?
    package var asset: Asset

    package init(number: AssetNumber?, asset: Asset) {
        self.number = number
        self.asset = asset
    }
}

/// A step of an upload.
package enum UploadStep: Sendable, Equatable {
    /// The next bytes of an item.
    case append(item: Int, pieces: [ByteBuffer])
    /// All bytes of the item were appended: their hash is compared, and they become durable.
    case finish(item: Int)

    package var item: Int {
        switch self {
        case .append(let item, _), .finish(let item): item
        }
    }
}

/// An event in the execution of the steps of a call.
package enum UploadEvent: Sendable {
    /// All bytes of the item have their hash and would be there after a crash.
    case finished(item: Int)
    /// All steps were executed, or one has failed.
    case executed(UploadOutcome)
}

/// The result of the steps of a call.
package struct UploadOutcome: Sendable {
    /// Number of bytes from the beginning that are durable, for each step that appended.
    package var durable: [(item: Int, bytes: Int64)] = []
    /// The item of the last such step, if a sync is worth its cost.
    package var syncDue: Int?
    /// The step that failed; later steps were not executed.
    package var failure: UploadFailure?

    package init() {}
}

/// An item with a failed step.
package struct UploadFailure: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case failed(AssetStoreError)
        /// The bytes do not have the hash, and were removed.
        case differs
    }

    package var item: Int
    package var reason: Reason

    package init(item: Int, _ reason: Reason) {
        self.item = item
        self.reason = reason
    }
}

/// The part of an item that would be there after a crash.
package struct UploadDurability: Hashable, Sendable {
    /// Number of bytes from the beginning.
    package var bytes: Int64
    /// Whether enough bytes for another sync were appended meanwhile.
    package var isMoreDue: Bool

    package init(bytes: Int64, isMoreDue: Bool) {
        self.bytes = bytes
        self.isMoreDue = isMoreDue
    }
}
