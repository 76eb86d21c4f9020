import StorageContract
import Synchronization

/// Limits which uploads may receive bytes.
///
/// A bounded number of uploads of the whole server may, and one at a time for each asset. An upload
/// gets its turn for all its assets at once, so that no two wait for each other. The order is first
/// come, first served, except that an upload does not delay those of other assets.
final class UploadTurns: Sendable {
    /// Notifies an upload of its turn; called on any thread, never while the state is locked.
    typealias Tell = @Sendable (Message) -> Void

    enum Message: Hashable, Sendable {
        case begin
        /// Another upload waits for an asset of this one, which has its turn.
        case contested
    }

    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Upload {
        let ticket: Ticket
        let assets: Set<AssetNumber>
        let tell: Tell
        var isContested = false
    }

    private struct State {
        var lastNumber: UInt64 = 0
        var receiving: [Ticket: Upload] = [:]
        /// Which upload has the turn for an asset.
        var holders: [AssetNumber: Ticket] = [:]
        var waiting: [Upload] = []
    }

    private let uploadsMax: Int
    private let state = Mutex(State())

    init(uploadsMax: Int) {
        self.uploadsMax = uploadsMax
    }

    /// Number of uploads that have their turn, and that wait for it.
    var counts: (receiving: Int, waiting: Int) {
        self.state.withLock { ($0.receiving.count, $0.waiting.count) }
    }

    /// Requests a turn, to be returned with `end`.
    ///
    /// `isNow`: the upload has it at once, without a notification.
    func ask(_ assets: [AssetNumber], tell: @escaping Tell) -> (ticket: Ticket, isNow: Bool) {
        let (ticket, messages) = self.state.withLock { state in
            state.lastNumber += 1
            let ticket = Ticket(number: state.lastNumber)
            state.waiting.append(Upload(ticket: ticket, assets: Set(assets), tell: tell))
            return (ticket, self.advance(&state))
        }
        var isNow = false
        for (upload, message) in messages {
            if upload.ticket == ticket, message == .begin { isNow = true } else { upload.tell(message) }
        }
        return (ticket, isNow)
    }

    /// The upload has ended, with or without its turn.
    func end(_ ticket: Ticket) {
        let messages = self.state.withLock { state in
            if let ended = state.receiving.removeValue(forKey: ticket) {
                for asset in ended.assets { state.holders[asset] = nil }
            } else {
                state.waiting.removeAll { $0.ticket == ticket }
            }
            return self.advance(&state)
        }
        for (upload, message) in messages { upload.tell(message) }
    }

    /// Gives turns to uploads that may have one.
    private func advance(_ state: inout State) -> [(Upload, Message)] {
        var messages: [(Upload, Message)] = []
        var still: [Upload] = []
        var claimed: Set<AssetNumber> = []
        for upload in state.waiting {
            let isFree =
                upload.assets.isDisjoint(with: claimed)
                && upload.assets.allSatisfy { state.holders[$0] == nil }
            if isFree, state.receiving.count < self.uploadsMax {
                for asset in upload.assets { state.holders[asset] = upload.ticket }
                state.receiving[upload.ticket] = upload
                messages.append((upload, .begin))
                continue
            }
            claimed.formUnion(upload.assets)
            still.append(upload)
            for ticket in Set(upload.assets.compactMap { state.holders[$0] }) {
                guard let holder = state.receiving[ticket], !holder.isContested else { continue }
                state.receiving[ticket]?.isContested = true
                messages.append((holder, .contested))
            }
        }
        state.waiting = still
        return messages
    }
}
