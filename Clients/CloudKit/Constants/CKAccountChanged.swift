public import Foundation

extension NSNotification.Name {
    /// Posted when the server's word on a container's token changes: accepted until now and not any more, or accepted again; and when a
    /// server takes connections again after `accountStatus` has said `temporarilyUnavailable`.
    ///
    /// Its object is `nil`, as Apple's. It comes when a request, `accountStatus` or somebody who listens to notifications hears
    /// of it, on any thread. While the status is `temporarilyUnavailable` the container asks by itself.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
